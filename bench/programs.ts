// Results and times of the user's own programs.
import { readdirSync, statSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { readArguments, run, UsageError } from './shared/arguments.ts';
import {
  measurePrograms,
  PROGRAM_OPTIONS,
  PROGRAM_USAGE,
  programOptions,
  type Program,
} from './shared/programs.ts';

const USAGE = `usage: npm run bench:programs -- PATH... [--flags "..."] [--budget SECONDS] [--timing SECONDS] [--rounds N]
                              [--device DRIVER] [--folder FOLDER] [--json FILE]

  PATH      .mlir files, and folders with such files at any depth
  --flags   more flags for both compilers, after the flags for this machine's CPU
${PROGRAM_USAGE}`;

await run('bench:programs', async () => {
  const args = readArguments(['flags', ...PROGRAM_OPTIONS], USAGE, joinFlags(process.argv.slice(2)));
  const programs = programsUnder(args.positionals);
  if (programs.length === 0)
    throw new UsageError('it takes .mlir files or folders with such files; --help says more');
  const flags = (args.options['flags'] ?? '').split(/\s+/).filter((flag) => flag !== '');
  await measurePrograms('programs', programs, programOptions(args, flags));
});

/** Joins `--flags "--a --b"` to `--flags=--a --b`, because node:util reads a value with a leading dash as an option. */
function joinFlags(argv: readonly string[]): string[] {
  const at = argv.indexOf('--flags');
  const value = at < 0 ? undefined : argv[at + 1];
  return value === undefined ? [...argv] : argv.toSpliced(at, 2, `--flags=${value}`);
}

/** Programs with names relative to their common folder. @throws UsageError for a missing file or folder */
function programsUnder(paths: readonly string[]): Program[] {
  const files = paths.flatMap((path) => {
    const status = statSync(path, { throwIfNoEntry: false });
    if (status === undefined) throw new UsageError(`${path}: there is no such file`);
    if (!status.isDirectory()) return [path];
    return readdirSync(path, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && entry.name.endsWith('.mlir'))
      .map((entry) => join(entry.parentPath, entry.name))
      .sort();
  });
  const unique = [...new Set(files.map((file) => resolve(file)))];
  let common = dirname(unique[0] ?? '/');
  while (!unique.every((file) => !relative(common, file).startsWith('..'))) common = dirname(common);
  return unique.map((path) => ({ name: relative(common, path), path, inputs: null, run: [] }));
}
