// Command lines of texts: bash splits them, and the parser of `iree-tuned` checks them.
import { spawnSync } from 'node:child_process';
import { CliCommand } from '../../src/cli/command.ts';
import { program } from '../../src/cli/iree-tuned.ts';
import { temporaryDirectory } from './folders.ts';

export const COMMANDS = ['iree-tuned', 'iree-compile-tuned', 'npm', 'npx'] as const;

/** A call of one of `COMMANDS`. */
export interface Call {
  /** Index of its script. */
  readonly script: number;
  readonly command: string;
  readonly argv: readonly string[];
}

/**
 * Replaces all commands by functions that record their words. Calls may run in parallel, so each is written in one write, which bash
 * does only for text without line ends.
 */
const PRELUDE = `
exec 3>&1 >/dev/null
${COMMANDS.map((name) => `${name}() { printf '%s\\0' "$at" ${name} "\${@//$'\\n'/$'\\1'}" $'\\2' >&3; }`).join('\n')}
cd() { :; }
kill() { :; }
command_not_found_handle() { :; }
PATH=/nonexistent
`;

/**
 * The calls in scripts. Runs bash only, in an empty folder.
 * @throws Error for invalid scripts
 */
export function callsIn(scripts: readonly string[]): Call[] {
  const texts = scripts.map((script, at) => {
    // Without the folder of the command.
    const plain = script.replaceAll(/(?<=^|[ =])[\w./~-]*\bbin\/(?=[a-z])/gm, '');
    return `at=${at}\neval ${quoted(plain)}`;
  });
  const { stdout, stderr } = spawnSync('bash', ['-c', PRELUDE + texts.join('\n')], {
    ...{ encoding: 'utf8', cwd: temporaryDirectory() },
  });
  if (stderr !== '') throw new Error(stderr);
  return stdout
    .replaceAll('\x01', '\n')
    .split('\x02\0')
    .filter((call) => call !== '')
    .map((call) => {
      const [at, command, ...argv] = call.split('\0').slice(0, -1);
      return { script: Number(at), command: command!, argv };
    });
}

const quoted = (text: string) => `'${text.replaceAll("'", String.raw`'\''`)}'`;

/** Every command of `iree-tuned` by its words; `''` is the program itself. */
export const walk = (command: CliCommand = program, path: readonly string[] = []): [string, CliCommand][] => [
  [path.join(' '), command],
  ...command
    .createHelp()
    .visibleCommands(command)
    .flatMap((one) => (one instanceof CliCommand ? walk(one, [...path, one.name()]) : [])),
];

/**
 * The words of the command that `iree-tuned` would run with these arguments. Nothing runs.
 * @throws CommanderError for invalid arguments
 */
export async function parsed(argv: readonly string[]): Promise<string | null> {
  let done: string | null = null;
  const restores = walk().map(([name, command]) => {
    const handler = Reflect.get(command, '_actionHandler') as unknown;
    command.action(() => void (done = name));
    return () => Reflect.set(command, '_actionHandler', handler);
  });
  try {
    await program.parseAsync(argv);
  } finally {
    for (const restore of restores) restore();
  }
  return done;
}
