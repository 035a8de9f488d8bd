// @module-tag slow
// When the remembering compiler may answer from memory. The result of another compile would make tests meaningless.
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { temporaryDirectory } from './folders.ts';

const script = readFileSync(join(import.meta.dirname, 'remembering-compiler.sh'), 'utf8');

/** Logs each run, and writes the input's text and name as output. It fails for `broken` inputs, and crashes for `crash`. */
const COMPILER = `#!/bin/sh
echo run >>"$0.runs"
output=/dev/stdout previous=
for argument; do
  case $previous in -o) output=$argument ;; esac
  case $argument in
    --iree-hal-dump-executable-*) mkdir -p "\${argument#*=}"; echo "dump of $previous" >"\${argument#*=}/d.mlir" ;;
    *.mlir) input=$argument ;;
    -) input=/dev/stdin ;;
  esac
  previous=$argument
done
text=$(cat "$input")
case $text in *broken*) rm -f "$output"; echo "$input: broken" >&2; exit 1 ;; *crash*) kill -9 $$ ;; esac
echo "note on $input" >&2
printf 'code of %s in %s\\0\\377' "$text" "$input" >"$output"
`;

/** A remembering compiler with an empty memory, in front of a fake compiler. */
function compilers() {
  const memory = temporaryDirectory();
  const real = join(memory, 'real');
  writeFileSync(real, COMPILER, { mode: 0o755 });
  mkdirSync(join(memory, 'kept'));
  const remembering = join(memory, 'remembering');
  const settings = `real='${real}' kept='${memory}/kept' names='/tmp/iree-tuned-test-[A-Za-z0-9]{6}' sum=md5sum`;
  writeFileSync(remembering, `#!/bin/sh\n${settings}\n${script}`);
  chmodSync(remembering, 0o755);
  const compile = (folder: string, argv: readonly string[], input = '') => {
    const { status, signal, stdout, stderr } = spawnSync(remembering, argv, { cwd: folder, input });
    return { status, signal, stdout: stdout.toString('latin1'), stderr: stderr.toString() };
  };
  const runs = () => (existsSync(`${real}.runs`) ? readFileSync(`${real}.runs`, 'utf8').length / 4 : 0);
  return { compile, runs, memory };
}

/** A folder with an input. */
function folderWith(text: string): string {
  const folder = temporaryDirectory();
  writeFileSync(join(folder, 'in.mlir'), text);
  return folder;
}

const read = (folder: string, name: string) => readFileSync(join(folder, name), 'latin1');
const FLAG = '--iree-llvmcpu-target-cpu=host';

describe('the same compile', () => {
  test('runs once, and gives the same output, messages and code in another folder and for another output file', () => {
    const { compile, runs } = compilers();
    const [one, two] = [folderWith('text'), folderWith('text')];
    const first = compile(one, [FLAG, 'in.mlir', '-o', 'a.vmfb']);
    expect(first).toEqual({ status: 0, signal: null, stdout: '', stderr: 'note on in.mlir\n' });
    expect(compile(two, [FLAG, 'in.mlir', '-o', 'b.vmfb'])).toEqual(first);
    expect(read(two, 'b.vmfb')).toBe('code of text in in.mlir\0\xff');
    expect(runs()).toBe(1);
  });

  test('fails again after a failure, and leaves no output', () => {
    const { compile, runs } = compilers();
    const folder = folderWith('broken');
    const first = compile(folder, ['in.mlir', '-o', 'a.vmfb']);
    expect(first).toMatchObject({ status: 1, stderr: 'in.mlir: broken\n' });
    writeFileSync(join(folder, 'a.vmfb'), 'of before');
    expect(compile(folder, ['in.mlir', '-o', 'a.vmfb'])).toEqual(first);
    expect(existsSync(join(folder, 'a.vmfb'))).toBe(false);
    expect(runs()).toBe(1);
  });

  test('has the folder of this run in messages and outputs', () => {
    const { compile, runs } = compilers();
    const [one, two] = [folderWith('text'), folderWith('text')];
    for (const folder of [one, two]) {
      const { stderr } = compile(folder, [join(folder, 'in.mlir'), '-o', 'a.vmfb']);
      expect(stderr).toBe(`note on ${folder}/in.mlir\n`);
      expect(read(folder, 'a.vmfb')).toBe(`code of text in ${folder}/in.mlir\0\xff`);
    }
    expect(runs()).toBe(1);
  });

  test('fills the folder of its dumps, and keeps other files there', () => {
    const { compile, runs } = compilers();
    const folder = folderWith('text');
    mkdirSync(join(folder, 'two'));
    writeFileSync(join(folder, 'two', 'mine'), '');
    for (const dumps of ['one', 'two'])
      compile(folder, ['in.mlir', `--iree-hal-dump-executable-sources-to=${dumps}`, '-o', 'a.vmfb']);
    expect(runs()).toBe(1);
    expect(readdirSync(join(folder, 'two')).sort()).toEqual(['d.mlir', 'mine']);
    expect(read(folder, 'two/d.mlir')).toBe(read(folder, 'one/d.mlir'));
  });

  test('reads stdin and writes stdout', () => {
    const { compile, runs } = compilers();
    const folder = temporaryDirectory();
    const first = compile(folder, ['-'], 'text');
    expect(first).toMatchObject({ status: 0, stdout: 'code of text in /dev/stdin\0\xff' });
    expect(compile(folder, ['-'], 'text')).toEqual(first);
    expect(compile(folder, ['-'], 'other').stdout).toBe('code of other in /dev/stdin\0\xff');
    expect(runs()).toBe(2);
  });
});

describe('the compiler runs again', () => {
  test.each([
    ['with another flag', [FLAG, '--iree-opt-level=O2', 'in.mlir', '-o', 'a.vmfb']],
    ['with flags in another order', ['in.mlir', FLAG, '-o', 'a.vmfb']],
    ['with another name of the input', [FLAG, './in.mlir', '-o', 'a.vmfb']],
    ['with its output on stdout', [FLAG, 'in.mlir']],
    ['with dumps', [FLAG, 'in.mlir', '--iree-hal-dump-executable-sources-to=d', '-o', 'a.vmfb']],
  ])('%s', (_, argv) => {
    const { compile, runs } = compilers();
    const folder = folderWith('text');
    compile(folder, [FLAG, 'in.mlir', '-o', 'a.vmfb']);
    compile(folder, argv);
    expect(runs()).toBe(2);
  });

  test('for another text, and for another spec of the same name', () => {
    const { compile, runs } = compilers();
    for (const [text, spec] of [
      ['a', 'x'],
      ['b', 'x'],
      ['a', 'y'],
    ] as const) {
      const folder = folderWith(text);
      writeFileSync(join(folder, 'spec'), spec);
      compile(folder, ['--iree-codegen-tuning-spec-path=spec', 'in.mlir', '-o', 'a.vmfb']);
    }
    expect(runs()).toBe(3);
  });

  test.each([
    [
      'a flag with unknown effects',
      ['--iree-hal-preprocess-executables-with=cat', 'in.mlir', '-o', 'a.vmfb'],
    ],
    [
      'a flag that reads or writes weights',
      ['--iree-opt-export-parameters=a.irpa', 'in.mlir', '-o', 'a.vmfb'],
    ],
    ['an output that is not a file', ['in.mlir', '-o', '/dev/null']],
    ['a response file', ['@flags', 'in.mlir', '-o', 'a.vmfb']],
  ])('each time with %s', (_, argv) => {
    const { compile, runs } = compilers();
    const folder = folderWith('text');
    for (let i = 0; i < 2; i++) compile(folder, argv);
    expect(runs()).toBe(2);
  });

  test('after a crash, with the same signal', () => {
    const { compile, runs } = compilers();
    const folder = folderWith('crash');
    for (let i = 0; i < 2; i++)
      expect(compile(folder, ['in.mlir', '-o', 'a.vmfb'])).toMatchObject({ signal: 'SIGKILL' });
    expect(runs()).toBe(2);
  });

  test('if the output cannot be written', () => {
    const { compile, runs } = compilers();
    const folder = folderWith('text');
    compile(folder, ['in.mlir', '-o', 'a.vmfb']);
    compile(folder, ['in.mlir', '-o', 'nowhere/a.vmfb']);
    expect(runs()).toBe(2);
  });
});

test('the same compile at the same time writes every output, and leaves no temporary files', () => {
  const { compile, runs, memory } = compilers();
  const folder = folderWith('text');
  const one = `'${memory}/remembering' in.mlir -o`;
  spawnSync('sh', ['-c', `${one} a.vmfb & ${one} b.vmfb & ${one} c.vmfb & wait`], { cwd: folder });
  const outputs = ['a.vmfb', 'b.vmfb', 'c.vmfb'].map((name) => read(folder, name));
  expect(new Set(outputs)).toEqual(new Set(['code of text in in.mlir\0\xff']));
  const before = runs();
  expect(compile(folder, ['in.mlir', '-o', 'd.vmfb'])).toMatchObject({ status: 0 });
  expect(runs()).toBe(before);
  expect(readdirSync(join(memory, 'kept')).filter((name) => name.startsWith('new'))).toEqual([]);
});
