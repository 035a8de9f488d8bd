// The help of each command.
import { afterEach, describe, expect, test, vi } from 'vitest';
import { callsIn, parsed, walk } from '../support/command-lines.ts';

const all = walk();

afterEach(() => vi.restoreAllMocks());

describe.each(all)('%s', (path, command) => {
  const lines = command.lines.map(([line]) => line);

  test('has examples', () => {
    expect(lines).not.toEqual([]);
  });

  test.each(lines)('%s', async (line) => {
    const calls = callsIn([line]);
    expect(calls).toMatchObject([{ command: 'iree-tuned' }]);
    const ran = await parsed(calls[0]!.argv);
    if (command.commands.length === 0) expect(ran).toBe(path);
    else expect(ran).not.toBeNull();
  });

  test('prints its examples', () => {
    let help = '';
    command.configureOutput({ writeOut: (text) => (help += text) });
    command.outputHelp();
    for (const line of lines) expect(help).toContain(line);
    expect(help.includes('Exit codes:')).toBe(path === '');
  });
});
