// @module-tag slow
// The harness finds differences. Compilers are scripts here.
// In full after a change of test/differential.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, test } from 'vitest';
import { temporaryDirectory } from '../support/folders.ts';
import { program } from '../support/scripts.ts';
import { compareFile, type Comparison, type Compilers } from './comparison.ts';
import { listInputs } from './files.ts';
import { MODES } from './modes.ts';
import type { ModuleVerdict } from './programs.ts';
import { Report } from './report.ts';
import { SHAPES } from './shapes.ts';

const place = temporaryDirectory();
const input = join(place, 'input.mlir');
writeFileSync(input, 'module {}\n');
const [shape, stdin] = SHAPES as [(typeof SHAPES)[number], (typeof SHAPES)[number]];
const [disabled, full] = ['disabled', 'full'].map((name) => MODES.find((mode) => mode.name === name)!);

let scripts = 0;
const script = (body: string) => program(join(place, `script${scripts++}`), body);

async function compared(
  stock: string,
  wrapper: string,
  verdict: ModuleVerdict | null = null,
  from = shape,
): Promise<Comparison> {
  const compilers: Compilers = {
    stock: script(stock),
    wrapper: script(wrapper),
    environment: () => process.env,
    compareModules: verdict === null ? null : () => Promise.resolve(verdict),
  };
  const mode = verdict === null ? disabled! : full!;
  const result = await compareFile(input, from, [mode], compilers, join(place, 'work'));
  return (result as Comparison[])[0]!;
}

const compiles = 'echo note >&2; echo text; echo code >out.vmfb';

describe('a build that differs', () => {
  test.each([
    [
      'another exit code',
      `${compiles}; exit 1`,
      'ending: line 1: stock "exit code 0", wrapper "exit code 1"',
    ],
    ['a signal', `${compiles}; kill -9 $$`, 'ending: line 1: stock "exit code 0", wrapper "signal SIGKILL"'],
    ['more on stdout', `${compiles}; echo more`, 'stdout: line 2: stock "", wrapper "more"'],
    ['less on stderr', 'echo text; echo code >out.vmfb', 'stderr: line 1: stock "note", wrapper ""'],
    ['other code', `${compiles}; echo other >out.vmfb`, 'output: line 1: stock "code", wrapper "other"'],
    ['no code', `${compiles}; rm out.vmfb`, 'output: stock has 5 bytes, wrapper has none'],
    ['a file too many', `${compiles}; : >out.vmfb.tmp`, 'left: line 1: stock "", wrapper "out.vmfb.tmp"'],
  ])('differs in %s', async (_, wrapper, note) => {
    expect(await compared(compiles, wrapper)).toMatchObject({ state: 'different', notes: [note] });
  });
  it('is found in binary output', async () => {
    const code = (bytes: string) => `printf '${bytes}'`;
    expect(await compared(code('ab\\0c'), code('ab\\0d'), null, stdin)).toMatchObject({
      state: 'different',
      notes: ['stdout: 4 and 4 bytes, different from byte 3 on'],
    });
  });
  it('makes the report bad', async () => {
    const report = new Report();
    report.add([await compared(compiles, compiles)]);
    expect(report.isGood).toBe(true);
    report.add([await compared(compiles, `${compiles}; exit 1`)]);
    expect(report.isGood).toBe(false);
    expect(report.summary()).toContain('differences: 1');
  });
});

describe('an equal build', () => {
  it('is equal', async () => {
    expect(await compared(compiles, compiles)).toMatchObject({ state: 'same', notes: [] });
  });
  it('gets the output of an earlier build, its input and its arguments', async () => {
    const echo = 'cat - out.vmfb; echo "$@"; pwd';
    expect(await compared(echo, echo)).toMatchObject({ state: 'same', ending: 'exit code 0' });
    const checks = 'grep -q "module {}" || exit 5; [ -s out.vmfb ] || exit 6; [ "$1" = - ] || exit 7';
    expect(await compared(checks, checks, null, stdin)).toMatchObject({ ending: 'exit code 0' });
  });
  it('may crash at another address', async () => {
    const crash = (address: string) =>
      `echo " #0 0x00007f5e50d5${address} main" >&2; ulimit -c 0; kill -SEGV $$`;
    expect(await compared(crash('a0ab'), crash('b0ab'))).toMatchObject({
      state: 'same',
      ending: 'signal SIGSEGV',
    });
  });
});

describe('an unstable outcome of stock', () => {
  it('is unstable, not different', async () => {
    expect(await compared('echo $$', 'echo $$')).toMatchObject({ state: 'unstable' });
  });
  it('excuses no other difference', async () => {
    expect(await compared('echo $$', 'echo $$; exit 1')).toMatchObject({ state: 'different' });
  });
  it('is searched for in the wrapper only after a crash', async () => {
    const marker = join(place, 'once');
    const once = (then: string) =>
      `[ -e ${marker}${scripts} ] || { : >${marker}${scripts}; rm out.vmfb; }; ${then}`;
    const crash = 'ulimit -c 0; kill -SEGV $$';
    expect(await compared(crash, once(crash))).toMatchObject({ state: 'unstable' });
    expect(await compared('exit 0', once('exit 0'))).toMatchObject({ state: 'different' });
  });
});

describe('other code of a wrapper that tunes', () => {
  const verdict = { compared: 1, maxError: 0, reasons: [] };
  const other = compiles.replace('code', 'other');
  it('is compared by running both programs', async () => {
    expect(await compared(compiles, other, { ...verdict, equal: true })).toMatchObject({
      state: 'other code',
    });
    expect(await compared(compiles, other, { ...verdict, equal: false })).toMatchObject({
      state: 'different',
    });
  });
  it('excuses no other messages, and no broken build', async () => {
    for (const wrapper of [`${other}; echo more >&2`, `${other}; exit 1`])
      expect(await compared(compiles, wrapper, { ...verdict, equal: true })).toMatchObject({
        state: 'different',
      });
  });
});

test('inputs are all files of both kinds at any depth, and a limit takes files of each folder', () => {
  const folder = join(place, 'inputs');
  for (const name of ['a', 'b/c']) {
    mkdirSync(join(folder, name), { recursive: true });
    for (const file of ['1.mlir', '2.mlirbc', '3.txt']) writeFileSync(join(folder, name, file), '');
  }
  const names = (limit?: number) =>
    listInputs([folder, join(folder, 'a')], limit).map((path) => path.slice(folder.length + 1));
  expect(names()).toEqual(['a/1.mlir', 'a/2.mlirbc', 'b/c/1.mlir', 'b/c/2.mlirbc']);
  expect(names(2)).toEqual(['a/1.mlir', 'b/c/1.mlir']);
});
