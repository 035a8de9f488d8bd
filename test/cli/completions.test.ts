// @module-tag slow
// Completion scripts in the shells that they are for, as far as these are installed.
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command as Program } from 'commander';
import { describe, expect, test } from 'vitest';
import { program } from '../../src/cli/iree-tuned.ts';
import { completionsFor, SHELLS, type Shell } from '../../src/cli/completions.ts';
import { commandsOf } from '../../src/cli/completions/model.ts';
import { NAMES } from '../../src/settings/settings.ts';
import { temporaryDirectory } from '../support/folders.ts';
import { isWithout } from '../support/needs.ts';
import { noTerminals } from '../support/terminal.ts';

const isWithoutShell = (shell: string) =>
  isWithout(spawnSync(shell, ['-c', 'exit 0']).status === 0 ? null : `${shell} is not installed`);

const folder = temporaryDirectory();
const scripts = Object.fromEntries(
  SHELLS.map((shell) => {
    const path = join(folder, `script.${shell}`);
    writeFileSync(path, completionsFor(shell, program));
    return [shell, path];
  }),
) as Record<Shell, string>;
for (const name of ['model.mlir', 'two words.mlir']) writeFileSync(join(folder, name), '');

function run(shell: string, argv: readonly string[]): string {
  const { stdout, stderr } = spawnSync(shell, argv, { cwd: folder, encoding: 'utf8' });
  expect(stderr).toBe('');
  return stdout;
}

/** What is offered for the last word. Bash has taken the words apart, signs in them too. */
function offered(...words: readonly string[]): string[] {
  const name = words[0] === 'iree-tuned' ? '_iree_tuned' : '_iree_compile_tuned';
  const script = `source "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); ${name}; printf '%s\\n' "\${COMPREPLY[@]}"`;
  return run('bash', ['--norc', '-c', script, scripts.bash, ...words])
    .split('\n')
    .filter((word) => word !== '');
}

test('an option takes a value wherever it is, or nowhere', () => {
  const kinds = new Map<string, boolean>();
  for (const { names, value } of commandsOf(program).flatMap(({ options }) => options))
    for (const name of names) {
      expect(kinds.get(name) ?? value !== null, name).toBe(value !== null);
      kinds.set(name, value !== null);
    }
});

test.each(SHELLS)('every command, option and setting is in the script for %s', (shell) => {
  const script = completionsFor(shell, program);
  const walk = ({ commands, options }: Program): string[] => [
    ...options.flatMap(({ long }) => long ?? []),
    ...commands.flatMap((command) => [command.name(), ...walk(command)]),
  ];
  for (const word of walk(program))
    expect(script).toContain(shell === 'fish' ? word.replace(/^--/, '') : word);
  for (const name of NAMES) expect(script).toContain(`iree-tuned-${name}`);
});

describe('bash', () => {
  test('takes the script without a word', () => {
    expect(run('bash', ['--norc', '-n', scripts.bash])).toBe('');
  });
  test.each<[string, string[], string[]]>([
    ['a command', ['iree-tuned', 'dev'], ['device']],
    ['one below another', ['iree-tuned', 'team', 'st'], ['status']],
    ['one behind an option with a value', ['iree-tuned', '--db', 'show', 'te'], ['team']],
    ['one behind a value with signs', ['iree-tuned', '--team', '=', 'a', ':', 'b', 'migr'], []],
    ['an option', ['iree-tuned', 'tune', '--stra'], ['--strategy']],
    ['an option of all commands', ['iree-tuned', 'tune', 'model.mlir', '--comp'], ['--compiler']],
    ['no option that it has not', ['iree-tuned', 'tune', '--apply'], []],
    ['no option behind --', ['iree-tuned', 'tune', 'x.mlir', '--', '--stra'], []],
    [
      'a value with few choices',
      ['iree-tuned', 'tune', '--strategy', ''],
      ['guided', 'descent', 'random', 'grid', 'ga', 'sa', 'xgb'],
    ],
    ['the same after =', ['iree-tuned', 'tune', '--strategy', '=', 'gr'], ['grid']],
    ['the same in one word', ['iree-tuned', 'tune', '--strategy=gr'], ['--strategy=grid']],
    [
      'what is right after =',
      ['iree-tuned', 'tune', '--strategy', '='],
      ['guided', 'descent', 'random', 'grid', 'ga', 'sa', 'xgb'],
    ],
    ['an argument with few choices', ['iree-tuned', 'completions', 'z'], ['zsh']],
    ['only one of these', ['iree-tuned', 'completions', 'zsh', 'b'], []],
    ['a setting', ['iree-compile-tuned', '--iree-tuned-bud'], ['--iree-tuned-budget=']],
    ['one that takes no value', ['iree-compile-tuned', '--iree-tuned-disa'], ['--iree-tuned-disable']],
    ['its value', ['iree-compile-tuned', '--iree-tuned-on-miss', '=', 'd'], ['default']],
    ['its value in a word of its own', ['iree-compile-tuned', '--iree-tuned-trust', 'c'], ['class']],
    ['flags of the compiler as files', ['iree-compile-tuned', '--iree-hal-target-device'], []],
  ])('%s', (_, words, replies) => {
    expect(offered(...words)).toEqual(replies);
  });
  test.skipIf(isWithout(noTerminals))('at a prompt: files where files go, with their spaces', () => {
    const bash = `bash --rcfile ${join(folder, 'rc')} -i`;
    writeFileSync(
      join(folder, 'rc'),
      `PS1=; source ${scripts.bash}; iree-tuned() { printf '<%s>' "$@"; }; iree-compile-tuned() { iree-tuned "$@"; }\n`,
    );
    const typed = [
      'iree-tuned tune mod\t',
      'iree-tuned db expo\t tw\t',
      'iree-compile-tuned mod\t --iree-tuned-bud\t7',
      'exit',
    ];
    const { stdout } = spawnSync('script', ['-qec', bash, '/dev/null'], {
      cwd: folder,
      encoding: 'utf8',
      input: `${typed.join('\n')}\n`,
      env: { ...process.env, TERM: 'dumb', INPUTRC: '/dev/null' },
    });
    expect(stdout).toContain('<tune><model.mlir>');
    expect(stdout).toContain('<db><export><two words.mlir>');
    expect(stdout).toContain('<model.mlir><--iree-tuned-budget=7>');
  });
});

describe.skipIf(isWithoutShell('zsh'))('zsh', () => {
  test('takes the script without a word', () => {
    expect(run('zsh', ['-f', '-n', scripts.zsh])).toBe('');
  });
});

describe.skipIf(isWithoutShell('fish'))('fish', () => {
  const offer = (line: string) =>
    run('fish', ['--no-config', '-c', `source ${scripts.fish}; complete -C '${line}'`])
      .split('\n')
      .map((one) => one.split('\t')[0]!)
      .filter((word) => word !== '');
  test.each([
    ['iree-tuned dev', ['device']],
    ['iree-tuned --db show te', ['team']],
    ['iree-tuned team st', ['status']],
    ['iree-tuned tune --strategy gr', ['grid']],
    ['iree-tuned tune mod', ['model.mlir']],
    ['iree-tuned db show mod', []],
    ['iree-compile-tuned --iree-tuned-on-miss=d', ['--iree-tuned-on-miss=default']],
    ['iree-compile-tuned mod', ['model.mlir']],
  ])('%s', (line, words) => {
    expect(offer(line)).toEqual(words);
  });
});
