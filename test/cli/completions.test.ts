// @module-tag slow
// Completions: the answers to the scripts, and the scripts in the installed shells.
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { answerText, completions, SHELLS, type Shell } from '../../src/cli/completions.ts';
import { program } from '../../src/cli/iree-tuned.ts';
import { walk } from '../support/command-lines.ts';
import { temporaryDirectory } from '../support/folders.ts';
import { casesOfTier, isWithout } from '../support/needs.ts';
import { noTerminals } from '../support/terminal.ts';

const words = (line: string, shell: Shell = 'bash') => {
  const [kind, ...lines] = answerText(shell, line, program);
  expect(kind).toBe('words');
  return lines;
};

describe('an answer', () => {
  const strategies = ['guided', 'descent', 'random', 'grid', 'ga', 'sa', 'xgb'];
  test.each<[string, string, string[]]>([
    ['a command', 'iree-tuned dev', ['device']],
    ['a command of a group', 'iree-tuned team st', ['status']],
    ['a command after an option with a value', 'iree-tuned --db show te', ['team']],
    ['no command where a value was', 'iree-tuned --team a:b migr', []],
    ['an option', 'iree-tuned tune --stra', ['--strategy']],
    ['an option of all commands', 'iree-tuned tune model.mlir --comp', ['--compiler']],
    ['no option of another command', 'iree-tuned tune --apply', []],
    ['choices of an option', 'iree-tuned tune --strategy ', strategies],
    ['choices after =', 'iree-tuned tune --strategy=', strategies],
    ['one choice after =', 'iree-tuned tune --strategy=gr', ['grid']],
    ['choices of an argument', 'iree-tuned completions z', ['zsh']],
    ['nothing after the last argument', 'iree-tuned completions zsh b', []],
    ['nothing for free text', 'iree-tuned db show ', []],
    ['an option after an optional value', 'iree-tuned stats --last --js', ['--json']],
    ['a setting', 'iree-compile-tuned --iree-tuned-bud', ['--iree-tuned-budget=']],
    ['a setting without a value', 'iree-compile-tuned --iree-tuned-disa', ['--iree-tuned-disable']],
    ['the value of a setting', 'bin/iree-compile-tuned --iree-tuned-on-miss=d', ['default']],
    ['the value of a setting in its own word', 'iree-compile-tuned --iree-tuned-trust c', ['class']],
    ['no flags of the compiler', 'iree-compile-tuned --iree-hal-target-device', []],
  ])('has %s', (_, line, all) => {
    expect(words(line)).toEqual(all);
  });

  test.each([
    ['iree-tuned tune mod', 'files'],
    ['iree-tuned tune a.mlir -- --stra', 'files'],
    ['iree-tuned --db ', 'files'],
    ['iree-tuned db import a.jsonl b', 'files'],
    ['iree-tuned shim ', 'folders'],
    ['iree-compile-tuned --iree-tuned-db=a', 'files'],
    ['iree-compile-tuned in', 'files'],
  ])('to "%s" is %s', (line, kind) => {
    expect(answerText('bash', line, program)).toEqual([kind]);
  });

  test('has descriptions where the shell shows them', () => {
    expect(words('iree-tuned dev', 'zsh')).toEqual([
      `device:${walk()
        .find(([path]) => path === 'device')![1]
        .description()}`,
    ]);
    expect(words('iree-tuned tune --strategy=gr', 'fish')).toEqual(['--strategy=grid']);
    expect(words('iree-tuned tune --jobs', 'fish')).toEqual([expect.stringMatching(/^--jobs\tnumber of /)]);
  });

  test('has every command and every option of it', () => {
    for (const [path, command] of walk()) {
      const line = `iree-tuned ${path}`.trimEnd();
      expect(words(`${line} -`)).toEqual(
        expect.arrayContaining(command.options.filter(({ hidden }) => !hidden).map(({ long }) => long)),
      );
      if (command.commands.length > 0)
        expect(words(`${line} `)).toEqual([
          ...command
            .createHelp()
            .visibleCommands(command)
            .map((one) => one.name()),
        ]);
    }
  });
});

const isWithoutShell = (shell: string) =>
  isWithout(spawnSync(shell, ['-c', 'exit 0']).status === 0 ? null : `${shell} is not installed`);

const folder = temporaryDirectory();
mkdirSync(join(folder, 'bin'));
writeFileSync(
  join(folder, 'bin', 'iree-tuned'),
  `#!/bin/sh\nexec '${process.execPath}' --conditions=source '${join(import.meta.dirname, 'command.ts')}' "$@"\n`,
  { mode: 0o755 },
);
for (const name of ['model.mlir', 'two words.mlir']) writeFileSync(join(folder, name), '');
const env = {
  ...process.env,
  PATH: `${join(folder, 'bin')}:${process.env['PATH']!}`,
  TERM: 'dumb',
  INPUTRC: '/dev/null',
};

function run(shell: string, argv: readonly string[]): string {
  const { stdout, stderr } = spawnSync(shell, argv, { cwd: folder, encoding: 'utf8', env });
  expect(stderr).toBe('');
  return stdout;
}

const scripts = Object.fromEntries(SHELLS.map((shell) => [shell, join(folder, `script.${shell}`)])) as Record<
  Shell,
  string
>;
for (const shell of SHELLS) writeFileSync(scripts[shell], run('iree-tuned', [completions.name(), shell]));

describe('bash', () => {
  test('parses the script', () => {
    expect(run('bash', ['--norc', '-n', scripts.bash])).toBe('');
  });
  test.skipIf(isWithout(noTerminals))('completes commands, values, and files with spaces', () => {
    const rc = join(folder, 'rc');
    const shown = `iree-tuned() { printf '<%s>' "$@"; }; iree-compile-tuned() { iree-tuned "$@"; }`;
    writeFileSync(rc, `PS1=; source ${scripts.bash}; ${shown}\n`);
    const typed = [
      'iree-tuned tune mod\t',
      'iree-tuned db expo\t tw\t',
      'iree-tuned tune --strategy=gri\t',
      'iree-compile-tuned mod\t --iree-tuned-bud\t7',
      'exit',
    ];
    const argv = ['-qec', `bash --rcfile ${rc} -i`, '/dev/null'];
    const { stdout } = spawnSync('script', argv, {
      ...{ cwd: folder, encoding: 'utf8', input: `${typed.join('\n')}\n`, env },
    });
    expect(stdout).toContain('<tune><model.mlir>');
    expect(stdout).toContain('<db><export><two words.mlir>');
    expect(stdout).toContain('<tune><--strategy=grid>');
    expect(stdout).toContain('<model.mlir><--iree-tuned-budget=7>');
  });
});

describe.skipIf(isWithoutShell('zsh'))('zsh', () => {
  test('parses the script', () => {
    expect(run('zsh', ['-f', '-n', scripts.zsh])).toBe('');
  });
  test.skipIf(isWithout(noTerminals))('completes commands, values and files', () => {
    const shown = `iree-tuned() { printf '<%s>' "$@"; }; iree-compile-tuned() { iree-tuned "$@"; }`;
    writeFileSync(
      join(folder, '.zshrc'),
      `PS1=; unsetopt zle_bracketed_paste; autoload -U compinit; compinit -u -D; source ${scripts.zsh}; ${shown}\n`,
    );
    const typed = [
      'iree-tuned tune mod\t',
      'iree-tuned tea\tstatu\t',
      'iree-compile-tuned --iree-tuned-on-miss=d\t',
      'exit',
    ];
    const { stdout } = spawnSync('script', ['-qec', 'zsh -i', '/dev/null'], {
      ...{ cwd: folder, encoding: 'utf8', input: `${typed.join('\n')}\n`, env: { ...env, ZDOTDIR: folder } },
    });
    expect(stdout).toContain('<tune><model.mlir>');
    expect(stdout).toContain('<team><status>');
    expect(stdout).toContain('<--iree-tuned-on-miss=default>');
  });
});

describe.skipIf(isWithoutShell('fish'))('fish', () => {
  const offer = (line: string) =>
    run('fish', ['--no-config', '-c', `source ${scripts.fish}; complete -C '${line}'`])
      .split('\n')
      .map((one) => one.split('\t')[0]!)
      .filter((word) => word !== '');
  test.each(
    casesOfTier(
      [
        ['iree-tuned dev', ['device']],
        ['iree-tuned --db show te', ['team']],
        ['iree-tuned team st', ['status']],
        ['iree-tuned tune --strategy gr', ['grid']],
        ['iree-tuned tune mod', ['model.mlir']],
        ['iree-tuned db show mod', []],
        ['iree-compile-tuned --iree-tuned-on-miss=d', ['--iree-tuned-on-miss=default']],
        ['iree-compile-tuned mod', ['model.mlir']],
      ],
      3,
    ),
  )('completes %s', (line, all) => {
    expect(offer(line)).toEqual(all);
  });
});
