// Command lines in texts for people, taken apart as bash does, and what the command line's own parser says of them.
import { spawnSync } from 'node:child_process';
import type { Command as Program } from 'commander';
import { program } from '../../src/cli/iree-tuned.ts';
import { temporaryDirectory } from './folders.ts';

export const COMMANDS = ['iree-tuned', 'iree-compile-tuned', 'npm', 'npx'] as const;

/** One call of one of `COMMANDS`. */
export interface Call {
  /** The one of the scripts that it stands in, from 0. */
  readonly script: number;
  readonly command: string;
  readonly argv: readonly string[];
}

/**
 * All of these do nothing and end well; what is not there neither. Others may run beside a call, so it is written at once, which
 * bash does only where no line ends in it.
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
 * The calls in scripts. Nothing is run but bash itself, in an empty folder.
 * @throws Error when bash does not understand one of them
 */
export function callsIn(scripts: readonly string[]): Call[] {
  const texts = scripts.map((script, at) => {
    // Whichever folder a command is in.
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

/** Every command of `iree-tuned` with what is typed for it; `''` is the program itself. */
export const walk = (command: Program = program, path: readonly string[] = []): [string, Program][] => [
  [path.join(' '), command],
  ...command.commands.flatMap((one) => walk(one, [...path, one.name()])),
];

/**
 * The command that `iree-tuned` would carry out with these arguments; nothing is done.
 * @throws CommanderError when they are not understood
 */
export async function parsed(argv: readonly string[]): Promise<string | null> {
  let done: string | null = null;
  const restores = walk().map(([name, command]) => {
    const handler = Reflect.get(command, '_actionHandler') as unknown;
    command.action(() => void (done = name));
    return () => Reflect.set(command, '_actionHandler', handler);
  });
  try {
    await program.parseAsync(argv, { from: 'user' });
  } finally {
    for (const restore of restores) restore();
  }
  return done;
}
