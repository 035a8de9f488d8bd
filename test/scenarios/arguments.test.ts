// Unusual command lines: the real compiler gets the same arguments and gives the same result as without us.
// In full after a change of bin/iree-compile-tuned, src/compiler/response.ts.
import { execFileSync } from 'node:child_process';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, test } from 'vitest';
import { program } from '../support/scripts.ts';
import { casesOfTier } from '../support/needs.ts';
import { giveAnswers } from '../support/answers.ts';
import { temporaryDirectory } from '../support/folders.ts';
import { compiler } from '../support/real-tools.ts';
import { HOST, matmulModule, Workplace, type Result, WRAPPER } from './support.ts';

const place = Workplace.real({ IREE_TUNED_BUDGET: '0' });
place.write('in.mlir', matmulModule(8, 8, 8));
place.write('broken.mlir', 'func.func @main(');

/** A compiler that prints its arguments, with a NUL after each, a variable, and its stdin. */
const stub = program(
  join(temporaryDirectory(), 'iree-compile'),
  `printf '%s\\0' "$@"; printf '%s\\0' "$NAME"; cat; exit 3`,
);
giveAnswers(place.path('cache'), stub);

const shown = ({ code, signal, stdout, stderr }: Result) => ({
  code,
  signal,
  stdout: stdout.toString(),
  stderr,
});

/** The real compiler and both launchers give the same result. */
async function expectSame(argv: readonly string[]): Promise<Result> {
  const stock = await place.stock(argv);
  for (const disable of ['1', '0'])
    expect(shown(await place.compile(argv, { env: { IREE_TUNED_DISABLE: disable } }))).toEqual(shown(stock));
  return stock;
}

/** The same with a shell script in which `"$0"` is the compiler. */
async function expectSameScript(script: string): Promise<Result> {
  const run = (file: string, disable: string) =>
    place.run('/bin/sh', ['-c', script, file], { env: { IREE_TUNED_DISABLE: disable } });
  const stock = await run(compiler.executable, '');
  for (const disable of ['1', '0']) expect(shown(await run(WRAPPER, disable))).toEqual(shown(stock));
  return stock;
}

/** The compiler gets exactly these arguments and this stdin from both launchers. */
async function expectPassedOn(argv: readonly string[]): Promise<void> {
  const got = [...argv, '', 'an input'].join('\0');
  for (const disable of ['1', '0']) {
    const env = { IREE_TUNED_COMPILER: stub, IREE_TUNED_DISABLE: disable, NAME: '' };
    const { code, stdout, stderr } = await place.compile(argv, { env, stdin: 'an input' });
    expect({ code, stderr }).toEqual({ code: 3, stderr: '' });
    // A difference is not printed, because it may be long.
    expect(stdout.equals(Buffer.from(got))).toBe(true);
  }
}

/** The same with the bytes of a script. */
async function expectPassedOnBy(script: string, got: string): Promise<void> {
  for (const disable of ['1', '0']) {
    const env = { IREE_TUNED_COMPILER: stub, IREE_TUNED_DISABLE: disable };
    const { stdout, stderr } = await place.run('/bin/sh', ['-c', script, WRAPPER], { env });
    expect({ stdout: stdout.toString('latin1'), stderr }).toEqual({ stdout: got, stderr: '' });
  }
}

describe('bytes that are not UTF-8', () => {
  const named = (name: string) =>
    Buffer.concat([Buffer.from(`${place.folder}/`), Buffer.from(name, 'latin1')]);
  const toText = [...HOST, '--compile-to=input'];
  writeFileSync(named('caf\xe9.mlir'), matmulModule(8, 8, 8));
  writeFileSync(named('broken\xe9%s\\1.mlir'), 'func.func @main(');

  it('name an input and an output', async () => {
    const compile = `"$0" ${toText.join(' ')} "$(printf 'caf\\351.mlir')" -o "$(printf 'out\\377.mlir')" && cat out*.mlir && rm out*.mlir`;
    const { code, stdout } = await expectSameScript(compile);
    expect(code).toBe(0);
    expect(stdout.toString()).toContain('linalg.matmul');
    expect(readdirSync(place.folder, 'latin1').filter((name) => name.startsWith('out'))).toEqual([]);
  });
  it('are in messages', async () => {
    const { code } = await expectSameScript(
      `"$0" ${toText.join(' ')} "$(printf 'broken\\351%%s\\\\1.mlir')"`,
    );
    expect(code).toBe(1);
  });
  it('are in arguments and the environment', async () => {
    await expectPassedOnBy(
      `export NAME="$(printf 'Jos\\351')"; "$0" ${toText.join(' ')} in.mlir "$(printf -- '--no-such-\\377')" "$(printf 'nowhere\\351.mlir')"`,
      [...toText, 'in.mlir', '--no-such-\xff', 'nowhere\xe9.mlir', 'Jos\xe9', ''].join('\0'),
    );
  });
  it('are in a response file', async () => {
    writeFileSync(
      join(place.folder, 'latin.rsp'),
      Buffer.from('in.mlir -o "from-r\xe9sponse.mlir" --compile-to=input', 'latin1'),
    );
    const { code } = await expectSameScript(`"$0" @latin.rsp && cat from-r*.mlir && rm from-r*.mlir`);
    expect(code).toBe(0);
  });
});

describe('long command lines', () => {
  // Duplicate flags are allowed, and the last flag wins.
  const cpu = '--iree-llvmcpu-target-cpu=host';
  const limit = Number(execFileSync('getconf', ['ARG_MAX'], { encoding: 'utf8' }));
  const textOf = (more: readonly string[]) => [...HOST, ...more, 'in.mlir', '--compile-to=input'];

  const long: [string, string[]][] = [
    [
      'one argument of 100 KiB',
      textOf([`--iree-llvmcpu-link-embedded=true`, `--mlir-print-ir-after=${'x'.repeat(100_000)}`]),
    ],
    ['200 KiB', textOf(Array<string>(7_000).fill(cpu))],
    [
      'close to the limit of the system',
      textOf(Array<string>(Math.floor((limit * 0.7) / (cpu.length + 9))).fill(cpu)),
    ],
    ['thousands of inputs after --', ['--', ...Array<string>(150_000).fill('x')]],
  ];
  test.each(casesOfTier(long, 2))('%s', async (_, argv) => {
    await expectPassedOn(argv);
  });
  it('200 KiB of the real compiler', async () => {
    expect(await expectSame(textOf(Array<string>(7_000).fill(cpu)))).toMatchObject({ code: 0 });
  });
  it('more than the system takes, in a response file', { tags: 'full' }, async () => {
    place.write('long.rsp', textOf(Array<string>(60_000).fill(cpu)).join('\n'));
    expect(await expectSame(['@long.rsp'])).toMatchObject({ code: 0 });
  });
});

describe('odd arguments', () => {
  const quotes = [...HOST, 'broken.mlir', '-o', `it's "$HOME" \`x\` * \\.vmfb`];
  const odd: [string, string[]][] = [
    ['an empty one', ['', ...HOST, 'in.mlir']],
    ['an empty input', [...HOST, '']],
    ['an empty value', [...HOST, 'in.mlir', '-o', '']],
    ['a newline', [...HOST, 'in.mlir', '--no-such\nflag']],
    ['a name with a newline', [...HOST, 'no\nwhere.mlir']],
    ['quotes and what shells expand', quotes],
    ['only newlines', [...HOST, '\n\n']],
  ];
  test.each(casesOfTier(odd, 3))('%s', async (_, argv) => {
    await expectPassedOn(argv);
  });
  const refused: [string, string[]][] = [
    ['quotes and what shells expand', quotes],
    ['an empty one', ['', ...HOST, 'in.mlir']],
  ];
  test.each(casesOfTier(refused, 1))('%s, with the message of the real compiler', async (_, argv) => {
    expect(await expectSame(argv)).toMatchObject({ code: 1 });
  });
  const names = [`it's "x".mlir`, 'new\nline\n.mlir', '$(x)`y`*.mlir', '@at.mlir', ' .mlir', 'é 💡.mlir'];
  test.each(casesOfTier(names, 2))('an input that is called %j', async (name) => {
    place.write(name, matmulModule(8, 8, 8));
    await expectPassedOn([...HOST, '--', name]);
  });
  it('an input that is called "-", which the real compiler reads', { tags: 'full' }, async () => {
    place.write('-', matmulModule(8, 8, 8));
    const { code } = await expectSame([...HOST, '--compile-to=input', '--', './-']);
    expect(code).toBe(0);
  });
});

describe('response files', () => {
  it('nest', { tags: 'full' }, async () => {
    place.write('outer.rsp', `@inner.rsp\n'in.mlir'`);
    place.write('inner.rsp', `"${HOST[0]!}" ${HOST[1]!} @inmost.rsp`);
    place.write('inmost.rsp', `${HOST[2]!} -o "a b.vmfb"`);
    expect(await place.stock(['@outer.rsp'])).toMatchObject({ code: 0, stderr: '' });
    const stock = place.read('a b.vmfb');
    place.remove('a b.vmfb');
    const explanation = await place.built(['@outer.rsp']);
    expect(explanation.operations).toMatchObject([{ operation: 'linalg.matmul', outcome: 'default' }]);
    expect(place.read('a b.vmfb').equals(stock)).toBe(true);
    await expectPassedOn(['@outer.rsp']);
  });
  it('that name themselves, are missing, or are no files', async () => {
    place.write('circle.rsp', 'in.mlir @circle.rsp');
    for (const name of ['circle.rsp', 'nowhere.rsp', '.', ''])
      expect(await expectSame([...HOST, `@${name}`])).toMatchObject({ code: 1 });
  });
});
