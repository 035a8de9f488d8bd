// What --help says of each command, and that it is true.
import { spawnSync } from 'node:child_process';
import type { Command as Program } from 'commander';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { EXAMPLES } from '../../src/cli/help.ts';
import { program } from '../../src/cli/iree-tuned.ts';

const walk = (command: Program, path: readonly string[] = []): [string, Program][] => [
  [path.join(' '), command],
  ...command.commands.flatMap((one) => walk(one, [...path, one.name()])),
];
const all = walk(program);

/** Calls of `iree-tuned` in a command line, as bash takes it apart. */
function callsIn(line: string): string[][] {
  // Pipes and redirections are the shell's; what stands around the calls does nothing here.
  const script = `
    iree-tuned() { { printf '%s\\0' "$@"; printf '\\n\\0'; } >&3; }
    gzip() { :; }; gunzip() { :; }; source() { :; }; complete() { :; }
    ${line.replaceAll(/ > \S+/g, ' >/dev/null').replace('| source', '')}`;
  const { stdout, stderr } = spawnSync('bash', ['-c', `exec 3>&1; ${script}`], { encoding: 'utf8' });
  expect(stderr).toBe('');
  return stdout
    .split('\n\0')
    .filter((call) => call !== '')
    .map((call) => call.split('\0').slice(0, -1));
}

afterEach(() => vi.restoreAllMocks());

test('every command has examples, and there are no others', () => {
  expect(Object.keys(EXAMPLES).toSorted()).toEqual(all.map(([path]) => path).toSorted());
});

describe.each(all)('%s', (path) => {
  test.each(EXAMPLES[path]!)('%s', async (line) => {
    const calls = callsIn(line);
    expect(calls).toHaveLength(1);
    for (const call of calls) {
      const done: string[] = [];
      const spies = all.map(([name, command]) => {
        const handler = Reflect.get(command, '_actionHandler') as unknown;
        command.action(() => void done.push(name));
        return () => Reflect.set(command, '_actionHandler', handler);
      });
      try {
        await program.parseAsync(call, { from: 'user' });
      } finally {
        for (const restore of spies) restore();
      }
      // The examples of the program, and of what has commands below it, are of these.
      if (program.commands.some((command) => command.name() === path && command.commands.length === 0))
        expect(done).toEqual([path]);
      else expect(done).toHaveLength(1);
    }
  });

  test('says so itself, as wide as the terminal is', () => {
    const command = all.find(([name]) => name === path)![1];
    let help = '';
    command.configureOutput({ writeOut: (text) => (help += text) });
    command.outputHelp();
    expect(help).toContain('Examples:\n');
    for (const [line] of EXAMPLES[path]!) expect(help).toContain(line);
    expect(help.includes('Exit codes:')).toBe(path === '');
  });
});
