// What --help says of each command, and that it is true.
import { afterEach, describe, expect, test, vi } from 'vitest';
import { EXAMPLES } from '../../src/cli/help.ts';
import { program } from '../../src/cli/iree-tuned.ts';
import { callsIn, parsed, walk } from '../support/command-lines.ts';

const all = walk();

afterEach(() => vi.restoreAllMocks());

test('every command has examples, and there are no others', () => {
  expect(Object.keys(EXAMPLES).toSorted()).toEqual(all.map(([path]) => path).toSorted());
});

describe.each(all)('%s', (path) => {
  test.each(EXAMPLES[path]!)('%s', async (line) => {
    // What another shell reads is in its own words.
    const calls = callsIn([line.replace('| source', '')]);
    expect(calls).toMatchObject([{ command: 'iree-tuned' }]);
    const done = await parsed(calls[0]!.argv);
    // The examples of the program, and of what has commands below it, are of these.
    if (program.commands.some((command) => command.name() === path && command.commands.length === 0))
      expect(done).toBe(path);
    else expect(done).not.toBeNull();
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
