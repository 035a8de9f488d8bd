// The rule of docs/style.md finds bad sentences, and the texts of `--help` have none. `npm run prose` applies it to the pages.
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { problemsOf } from '../../scripts/prose/plain-english.ts';
import { walk } from '../support/command-lines.ts';
import { root, temporaryDirectory } from '../support/folders.ts';

test.each([
  ['a clause as the subject', 'What reads the result gets data tiling.', '"What": name the thing'],
  ['a clause as the object', 'Builds say what they miss.', '"what": name the thing'],
  ['a pronoun for a clause', 'The file names that one.', '"that one"'],
  ['an invented word', 'The counters begin anew.', '"anew": again'],
  ['a long sentence', `${'word '.repeat(36)}.`, '35 at most'],
])('%s is found', (_, text, problem) => {
  expect(problemsOf(`A good sentence. ${text}`)).toEqual([expect.stringContaining(problem)]);
});

test('a question, and words of code, are not found', () => {
  expect(problemsOf('What is tuned? See the table.')).toEqual([]);
  expect(problemsOf('Call `code` (`code`).')).toEqual([]);
});

test(
  'textlint fails for a page with a bad sentence in a paragraph, a list or a table',
  { tags: ['slow'] },
  () => {
    const page = join(temporaryDirectory(), 'page.md');
    writeFileSync(page, 'Say what.\n\n- Say `what`.\n- Say whatever.\n\n| a |\n|---|\n| The purse. |\n');
    const textlint = join(root, 'node_modules', 'textlint', 'bin', 'textlint.js');
    const argv = [textlint, '--rulesdir', 'scripts/prose', '--format', 'unix', page];
    const { status, stdout } = spawnSync(process.execPath, argv, { cwd: root, encoding: 'utf8' });
    expect(status).toBe(1);
    expect([...stdout.matchAll(/^.*:(\d+):\d+:/gm)].map(([, line]) => line)).toEqual(['1', '4', '8']);
  },
);

const HELP = walk().flatMap(([name, command]): [string, string][] => [
  [`iree-tuned ${name}`.trim(), command.description()],
  ...command.options.map(({ long, description }): [string, string] => [
    `iree-tuned ${name} ${long ?? ''}`,
    description,
  ]),
  ...command.registeredArguments.map((argument): [string, string] => [
    `iree-tuned ${name} ${argument.name()}`,
    argument.description,
  ]),
]);

test('--help is plain English', () => {
  expect(HELP.length).toBeGreaterThan(100);
  const problems = HELP.flatMap(([place, text]) => problemsOf(text).map((problem) => `${place}: ${problem}`));
  expect(problems).toEqual([]);
});
