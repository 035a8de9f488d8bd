// The output cache: a repeated build runs no compiler.
// In full after a change of src/wrapper/outputs.ts, src/compiler/command-files.ts, src/compiler/command-identity.ts.
import { chmodSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { casesOfTier, isFull } from '../support/needs.ts';
import { compiler } from '../support/real-tools.ts';
import { misbehavingCompiler, recordedWorkplace } from './faults/support.ts';
import { oddMatmul, type Workplace, argv } from './support.ts';

/** A place whose compiler logs its runs for the user's output. */
async function noted(deed = 'true') {
  const place = await recordedWorkplace({ IREE_TUNED_BUDGET: '0' });
  const env = misbehavingCompiler(
    place,
    '*',
    `case "$*" in *--compile-to*) ;; *in.mlir*|*again.mlir*) echo x >>ran; ${deed};; esac`,
  );
  return { place, env };
}

/** Number of runs since the last call. */
function runs(place: Workplace): number {
  if (!place.has('ran')) return 0;
  const lines = place.read('ran').toString().trim().split('\n').length;
  place.remove('ran');
  return lines;
}

const outputs = (place: Workplace) =>
  readdirSync(place.path('cache/outputs')).filter((name) => name.endsWith('.bin'));

/** Builds twice: the first build runs the compiler, and the second one does not. */
async function expectNewBuild(
  place: Workplace,
  env: Readonly<Record<string, string | undefined>>,
  own: readonly string[] = argv,
) {
  for (const count of [1, 0]) {
    expect(await place.compile(own, { env })).toMatchObject({ code: 0, stderr: '' });
    expect(runs(place)).toBe(count);
  }
}

test('another linker is another build', { tags: 'full' }, async () => {
  const { place, env } = await noted();
  // From now on the compiler remembers this compile, and does not run the linkers, which are no programs.
  await expectNewBuild(place, env);
  place.remove('cache');
  const linkers = ['first', 'second'].map((name) => place.path(place.write(name, `linker ${name}`)));
  const variables = ['IREE_LLVM_EMBEDDED_LINKER_PATH', 'IREE_LLVM_SYSTEM_LINKER_PATH'];
  for (const variable of casesOfTier(variables, 1))
    for (const linker of linkers) await expectNewBuild(place, { ...env, [variable]: linker });
  const named = { ...env, IREE_LLVM_EMBEDDED_LINKER_PATH: linkers[0] };
  expect(await place.compile(argv, { env: named })).toMatchObject({ code: 0 });
  expect(runs(place)).toBe(0);
  place.write('first', 'another first linker');
  await expectNewBuild(place, named);
  // The compiler runs the linker of a flag.
  const real = join(dirname(compiler.executable), 'iree-lld');
  for (const comment of ['one', 'another']) {
    place.write('third', `#!/bin/sh\n# ${comment}\nexec '${real}' "$@"\n`);
    chmodSync(place.path('third'), 0o755);
    await expectNewBuild(place, env, [`--iree-llvmcpu-embedded-linker-path=${place.path('third')}`, ...argv]);
  }

  // The compiler finds a linker beside it before a linker in PATH.
  mkdirSync(place.path('bin'));
  const found = { ...env, PATH: `${place.path('bin')}:${process.env['PATH']!}` };
  await expectNewBuild(place, found);
  place.write('bin/lld', 'a linker');
  await expectNewBuild(place, found);
  place.write('bin/lld', 'another linker');
  await expectNewBuild(place, found);
  place.write('iree-lld', 'a linker');
  await expectNewBuild(place, found);
  place.write('iree-lld', 'another linker');
  await expectNewBuild(place, found);
});

test('other files in a folder of bitcode are another build', { tags: 'full' }, async () => {
  const { place, env } = await noted();
  mkdirSync(place.path('bitcode'));
  const own = ['--iree-rocm-bc-dir=bitcode', ...argv];
  await expectNewBuild(place, env, own);
  for (const text of ['one', 'another']) {
    place.write('bitcode/ockl.bc', text);
    await expectNewBuild(place, env, own);
  }
});

test('the output of tools of the system is compiled each time', { tags: 'full' }, async () => {
  const { place, env } = await noted();
  for (const build of [1, 2, 3]) {
    expect(await place.compile(['--iree-cuda-use-ptxas', ...argv], { env })).toMatchObject({ code: 0 });
    expect([build, runs(place)]).toEqual([build, 1]);
  }
  expect(place.has('cache/outputs')).toBe(false);
});

test('a repeated build copies the same bytes, also to other paths', async () => {
  const { place, env } = await noted();
  expect(await place.compile(argv, { env })).toMatchObject({ code: 0, stderr: '' });
  expect(runs(place)).toBe(1);
  const bytes = place.read('out.vmfb');
  // A link and the mode of its target stay.
  place.remove('out.vmfb');
  place.write('target.vmfb', 'before');
  chmodSync(place.path('target.vmfb'), 0o640);
  symlinkSync('target.vmfb', place.path('out.vmfb'));
  for (const output of ['out.vmfb', 'out.vmfb', 'other.vmfb', 'other.vmfb']) {
    const again = [...argv.slice(0, -1), output];
    expect(await place.compile(again, { env })).toMatchObject({ code: 0, stderr: '' });
    expect(place.read(output).equals(bytes)).toBe(true);
  }
  expect(place.read('target.vmfb').equals(bytes)).toBe(true);
  expect(runs(place)).toBe(0);
  expect(outputs(place)).toHaveLength(1);
});

test('another input, other flags or another name of the input is another build', async () => {
  const { place, env } = await noted();
  await place.compile(argv, { env });
  expect(runs(place)).toBe(1);
  place.write('in.mlir', `// a comment\n${oddMatmul}`);
  await place.compile(argv, { env });
  expect(runs(place)).toBe(1);
  if (isFull) {
    await place.compile(['--iree-opt-level=O2', ...argv], { env });
    expect(runs(place)).toBe(1);
  }
  place.write('again.mlir', oddMatmul);
  await place.compile(
    argv.map((one) => (one === 'in.mlir' ? 'again.mlir' : one)),
    { env },
  );
  expect(runs(place)).toBe(1);
});

test('cache --forget forgets the plan and the outputs of one input only', { tags: 'full' }, async () => {
  const { place, env } = await noted();
  place.write('again.mlir', `// another input\n${oddMatmul}`);
  const other = argv.map((one) =>
    one === 'in.mlir' ? 'again.mlir' : one === 'out.vmfb' ? 'other.vmfb' : one,
  );
  await place.compile(argv, { env });
  await place.compile(other, { env });
  expect(runs(place)).toBe(2);
  const folders = ['plans', 'replays', 'outputs'];
  const files = () =>
    folders.flatMap((name) => readdirSync(place.path(`cache/${name}`)).map((file) => `${name}/${file}`));
  const before = files();
  const bytes = place.read('out.vmfb');

  const { code, stdout } = await place.tuned(['cache', '--forget', 'in.mlir']);
  expect([code, stdout]).toEqual([
    0,
    expect.stringMatching(/1 output, .*; forgotten for in\.mlir: 1 plan, 1 output/),
  ]);
  const kept = files();
  expect(kept.filter((name) => name.startsWith('plans/'))).toHaveLength(1);
  await place.compile(other, { env });
  expect(runs(place)).toBe(0);
  await place.compile(argv, { env });
  expect(runs(place)).toBe(1);
  expect(files().sort()).toEqual(before.sort());
  expect(place.read('out.vmfb').equals(bytes)).toBe(true);

  expect(await place.tuned(['cache', '--forget', 'none.mlir'])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('none.mlir') as string,
  });
});

test('a damaged output is compiled again, and outputs=off compiles every time', async () => {
  const { place, env } = await noted();
  await place.compile(argv, { env });
  const bytes = place.read('out.vmfb');
  const [name] = outputs(place);
  const damaged = Buffer.from(bytes);
  damaged[100]! ^= 1;
  for (const content of [damaged, bytes.subarray(0, 1000)]) {
    writeFileSync(join(place.path('cache/outputs'), name!), content);
    runs(place);
    expect(await place.compile(argv, { env })).toMatchObject({ code: 0, stderr: '' });
    expect(place.read('out.vmfb').equals(bytes)).toBe(true);
    expect(runs(place)).toBe(1);
  }
  const off = { ...env, IREE_TUNED_OUTPUTS: 'off' };
  for (const build of [1, 2]) {
    expect(await place.compile(argv, { env: off })).toMatchObject({ code: 0 });
    expect([build, runs(place)]).toEqual([build, 1]);
  }
});

test('a warning of the compile appears each time', async () => {
  const { place, env } = await noted("printf 'a w\\303\\244rning\\377\\n' >&2");
  for (const build of [1, 2, 3]) {
    const { code, stderr } = await place.compile(argv, { env });
    expect({ code, stderr }).toEqual({ code: 0, stderr: 'a wärning\ufffd\n' });
    expect([build, runs(place)]).toEqual([build, build === 1 ? 1 : 0]);
  }
});

test('the output of an input without tunable operations is copied', { tags: 'full' }, async () => {
  const { place, env } = await noted();
  place.write(
    'again.mlir',
    'func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {\n  return %a : tensor<4xf32>\n}\n',
  );
  const own = argv.map((one) => (one === 'in.mlir' ? 'again.mlir' : one));
  for (const build of [1, 2, 3]) {
    expect(await place.compile(own, { env })).toMatchObject({ code: 0, stderr: '' });
    expect([build, runs(place)]).toEqual([build, build === 1 ? 1 : 0]);
    if (build === 1) place.remove('out.vmfb');
  }
  expect((await place.stock([...own.slice(0, -1), 'stock.vmfb'])).code).toBe(0);
  expect(place.read('out.vmfb').equals(place.read('stock.vmfb'))).toBe(true);
});

test('iree-tuned cache shows the size, and --clear removes outputs', { tags: 'full' }, async () => {
  const { place, env } = await noted();
  await place.compile(argv, { env });
  const size = place.read('out.vmfb').length;
  const about = async (...more: string[]) => place.asked(['cache', '--json', ...more]);
  expect(await about()).toMatchObject({ kept: true, outputs: 1, bytes: size, limit: 2 ** 31 });
  expect(await place.said(['cache'])).toMatch(/1 output, [\d.]+ KiB of 2 GiB\n$/);
  expect(await about('--clear')).toMatchObject({ outputs: 0, bytes: 0 });
  runs(place);
  await place.compile(argv, { env });
  expect(runs(place)).toBe(1);
});

test.each([
  '--iree-opt-splat-parameters=file',
  '--iree-parameter-splat=file',
  '--iree-vm-bytecode-source-listing=file',
])(
  'a build with %s writes the file each time, and no compile of ours writes it',
  { tags: 'full' },
  async (flag) => {
    const { place } = await noted();
    const { compiler, ran } = place.watchedTools();
    const env = { IREE_TUNED_COMPILER: compiler, IREE_TUNED_BUDGET: '8' };
    for (const build of [1, 2]) {
      expect(await place.compile([flag, ...argv], { env })).toMatchObject({ code: 0 });
      const own = ran();
      expect([build, own.filter((line) => line.includes(flag)).length]).toEqual([build, 1]);
      // The first build proves that the configuration landed.
      if (build === 1) expect(own.length).toBeGreaterThan(1);
    }
  },
);
