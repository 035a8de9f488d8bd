// Unusual command lines: the real compiler gets, says and does the same as without us.
import { execFileSync } from 'node:child_process';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, test } from 'vitest';
import { compiler, root } from '../support/real-tools.ts';
import { HOST, matmulModule, Workplace, type Result } from './support.ts';

const place = new Workplace({ IREE_TUNED_BUDGET: '0' });
const wrapper = join(root, 'bin', 'iree-compile-tuned');
place.write('in.mlir', matmulModule(8, 8, 8));
place.write('broken.mlir', 'func.func @main(');

const shown = ({ code, signal, stdout, stderr }: Result) => ({
  code,
  signal,
  stdout: stdout.toString(),
  stderr,
});

/** Both ways, of a command line or of a shell script in which `"$0"` is the compiler. */
async function expectSame(
  argv: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Result> {
  const stock = await place.stock(argv, { env });
  for (const disable of ['1', '0'])
    expect(shown(await place.compile(argv, { env: { ...env, IREE_TUNED_DISABLE: disable } }))).toEqual(
      shown(stock),
    );
  return stock;
}
async function expectSameScript(script: string): Promise<Result> {
  const run = (file: string, disable: string) =>
    place.run('/bin/sh', ['-c', script, file], { env: { IREE_TUNED_DISABLE: disable } });
  const stock = await run(compiler.executable, '');
  for (const disable of ['1', '0']) expect(shown(await run(wrapper, disable))).toEqual(shown(stock));
  return stock;
}

describe('bytes that are not UTF-8', () => {
  const named = (name: string) =>
    Buffer.concat([Buffer.from(`${place.folder}/`), Buffer.from(name, 'latin1')]);
  const toText = `${HOST.join(' ')} --compile-to=input`;
  writeFileSync(named('caf\xe9.mlir'), matmulModule(8, 8, 8));
  writeFileSync(named('broken\xe9%s\\1.mlir'), 'func.func @main(');

  it('name an input and an output', async () => {
    const compile = `"$0" ${HOST.join(' ')} "$(printf 'caf\\351.mlir')" -o "$(printf 'out\\377.vmfb')" && cat out*.vmfb && rm out*.vmfb`;
    const { code, stdout } = await expectSameScript(compile);
    expect(code).toBe(0);
    expect(stdout.length).toBeGreaterThan(1000);
    expect(readdirSync(place.folder, 'latin1').filter((name) => name.startsWith('out'))).toEqual([]);
  });
  it('are in messages', async () => {
    const { code } = await expectSameScript(`"$0" ${toText} "$(printf 'broken\\351%%s\\\\1.mlir')"`);
    expect(code).toBe(1);
    await expectSameScript(`"$0" ${toText} in.mlir "$(printf -- '--no-such-\\377')"`);
    await expectSameScript(`"$0" ${toText} "$(printf 'nowhere\\351.mlir')"`);
  });
  it('are in a response file', async () => {
    writeFileSync(
      join(place.folder, 'latin.rsp'),
      Buffer.from('in.mlir -o "from-r\xe9sponse.mlir" --compile-to=input', 'latin1'),
    );
    const { code } = await expectSameScript(`"$0" @latin.rsp && cat from-r*.mlir && rm from-r*.mlir`);
    expect(code).toBe(0);
  });
  it('are in the environment', async () => {
    const { code, stdout } = await place.run('/bin/sh', [
      '-c',
      `export NAME="$(printf 'Jos\\351')"; "$0" ${HOST.join(' ')} in.mlir \
        --iree-hal-preprocess-executables-with='sh -c "printenv NAME >name.txt; cat"' -o env.vmfb; cat name.txt`,
      wrapper,
    ]);
    expect([code, stdout]).toEqual([0, Buffer.from('Jos\xe9\n', 'latin1')]);
  });
});

describe('long command lines', () => {
  // Each says the same as one of them; the last one counts.
  const cpu = '--iree-llvmcpu-target-cpu=host';
  const limit = Number(execFileSync('getconf', ['ARG_MAX'], { encoding: 'utf8' }));
  const textOf = (more: readonly string[]) => [...HOST, ...more, 'in.mlir', '--compile-to=input'];

  test.each([
    [
      'one argument of 100 KiB',
      [`--iree-llvmcpu-link-embedded=true`, `--mlir-print-ir-after=${'x'.repeat(100_000)}`],
    ],
    ['200 KiB', Array<string>(7_000).fill(cpu)],
    ['most of what the system takes', Array<string>(Math.floor((limit * 0.7) / (cpu.length + 9))).fill(cpu)],
  ])('%s', async (_, more) => {
    await expectSame(textOf(more));
  });
  it('thousands of inputs after --', async () => {
    const { code } = await expectSame(['--', ...Array<string>(150_000).fill('x')]);
    expect(code).toBe(1);
  });
  it('more than the system takes, in a response file', async () => {
    place.write('long.rsp', textOf(Array<string>(60_000).fill(cpu)).join('\n'));
    const { code } = await expectSame(['@long.rsp']);
    expect(code).toBe(0);
  });
});

describe('odd arguments', () => {
  test.each([
    ['an empty one', ['', ...HOST, 'in.mlir']],
    ['an empty input', [...HOST, '']],
    ['an empty value', [...HOST, 'in.mlir', '-o', '']],
    ['a newline', [...HOST, 'in.mlir', '--no-such\nflag']],
    ['a name with a newline', [...HOST, 'no\nwhere.mlir']],
    ['quotes and what shells expand', [...HOST, 'broken.mlir', '-o', `it's "$HOME" \`x\` * \\.vmfb`]],
    ['only newlines', [...HOST, '\n\n']],
  ])('%s', async (_, argv) => {
    expect(await expectSame(argv)).toMatchObject({ code: 1 });
  });
  test.each([`it's "x".mlir`, 'new\nline\n.mlir', ' .mlir', '$(x)`y`*.mlir', '-', '@at.mlir', 'é 💡.mlir'])(
    'an input that is called %j',
    async (name) => {
      place.write(name, matmulModule(8, 8, 8));
      const { code } = await expectSame([...HOST, '--compile-to=input', '--', name === '-' ? './-' : name]);
      expect(code).toBe(0);
    },
  );
});

describe('response files', () => {
  it('nest', async () => {
    place.write('outer.rsp', `@inner.rsp\n'in.mlir'`);
    place.write('inner.rsp', `"${HOST[0]!}" ${HOST[1]!} @inmost.rsp`);
    place.write('inmost.rsp', `${HOST[2]!} -o "a b.vmfb"`);
    expect(await expectSame(['@outer.rsp'])).toMatchObject({ code: 0 });
    const { explanation } = await place.explain(['@outer.rsp']);
    expect(explanation.operations).toMatchObject([{ operation: 'linalg.matmul', outcome: 'default' }]);
    expect(place.has('a b.vmfb')).toBe(true);
  });
  it('that name themselves, are missing, or are no files', async () => {
    place.write('circle.rsp', 'in.mlir @circle.rsp');
    for (const name of ['circle.rsp', 'nowhere.rsp', '.', ''])
      expect(await expectSame([...HOST, `@${name}`])).toMatchObject({ code: 1 });
  });
});
