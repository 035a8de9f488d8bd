// The command line of `bench:onnx`.
import { jsonFile, readArguments, secondsOption, UsageError, wholeNumber } from '../shared/arguments.ts';
import { threadsOption } from '../shared/threads.ts';

const USAGE = `usage: npm run bench:onnx -- [MODEL...] [--budget SECONDS] [--rounds N] [--threads 1|all] [--dim NAME=SIZE]
                          [--archive] [--folder FOLDER] [--json FILE]

  MODEL      an .onnx file, or a light model of the onnx package, such as squeezenet (default: all light models)
  --budget   seconds of tuning per model (default 60)
  --rounds   most rounds of timing; slow models get fewer (default 15)
  --threads  1, or all threads of this machine (default 1), also for ONNX Runtime
  --dim      size of a named dimension, such as batch=1; repeatable
  --archive  also measure each model with its weights as parameters in an .irpa archive
  --folder   keep the tuning database and the cache in FOLDER (default: a temporary folder)
  --json     also write all values to FILE, after each model`;

export interface Options {
  /** Names of light models and paths of files; empty for all light models. */
  readonly models: readonly string[];
  readonly budgetSeconds: number;
  readonly rounds: number;
  readonly threads: number;
  /** Sizes of named dimensions, in elements. */
  readonly sizes: Readonly<Record<string, number>>;
  readonly archive: boolean;
  readonly folder: string | undefined;
  readonly json: string | undefined;
}

/** @throws UsageError for an invalid command line */
export function readOptions(argv?: readonly string[]): Options {
  const names = ['budget', 'rounds', 'threads', 'folder', 'json'];
  const args = readArguments(names, USAGE, argv && [...argv], { lists: ['dim'], switches: ['archive'] });
  return {
    models: [...new Set(args.positionals)],
    budgetSeconds: secondsOption(args, 'budget', 60),
    rounds: wholeNumber(args, 'rounds', 15),
    threads: threadsOption(args),
    sizes: sizesOf(args.lists['dim'] ?? []),
    archive: args.switches.has('archive'),
    folder: args.options['folder'],
    json: jsonFile(args),
  };
}

function sizesOf(texts: readonly string[]): Record<string, number> {
  const sizes: Record<string, number> = {};
  for (const text of texts) {
    const [, name, size] = /^(.+)=([1-9]\d*)$/.exec(text) ?? [];
    if (name === undefined || !Number.isSafeInteger(Number(size)))
      throw new UsageError(`--dim ${text}: it takes a name and a size from 1 up, such as --dim batch=1`);
    if (sizes[name] !== undefined && sizes[name] !== Number(size))
      throw new UsageError(`--dim ${text}: ${name} is ${sizes[name]} already; give each name once`);
    sizes[name] = Number(size);
  }
  return sizes;
}
