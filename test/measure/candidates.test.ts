// In full after a change of src/measure.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { attributeOf, tiles } from '../support/backend.ts';
import { benchmark, timeCandidates } from '../../src/measure/benchmark.ts';
import { placementsHere, type Placement } from '../../src/measure/placement.ts';
import { buildCandidates } from '../../src/measure/build.ts';
import { candidateAtLine, candidateModule, truthOf } from '../../src/measure/candidate-module.ts';
import { runTool, type Toolchain } from '../../src/measure/toolchain.ts';
import { compareOutputs, exactAllowance, outputsOf } from '../../src/measure/verify.ts';
import { decodeElements } from '../../src/measure/elements.ts';
import type { OperationWork } from '../../src/workload/workload.ts';
import { temporaryDirectory } from '../support/folders.ts';
import { outputOf, toolchain } from '../support/real-tools.ts';
import { matmul, withSizes, workload } from '../support/workloads.ts';
import { compileTogether, moduleOf, withFillers } from './together.ts';

/** All tests share one folder, so that the modules that fill operands are compiled once. */
let tools: Toolchain;
beforeAll(async () => {
  tools = await toolchain(temporaryDirectory());
});

const stock = { name: 'stock', attribute: null };
const tile = tiles([16, 32, 0], [4, 16, 0], [0, 0, 4]);

/** A workload with other orders of its operands' dimensions. */
const laidOut = (base: OperationWork, lhs: number[], rhs: number[], result?: number[]): OperationWork => ({
  ...base,
  lhs: { ...base.lhs, dimensions: lhs },
  rhs: { ...base.rhs, dimensions: rhs },
  accumulator: { ...base.accumulator, dimensions: result ?? base.accumulator.dimensions },
});

const expectEqual = (expected: Uint8Array | null, actual: Uint8Array | null) => {
  const compared = compareOutputs(expected!, actual!, 'f32', exactAllowance('f32'));
  expect(compared).toEqual({ outcome: 'right', maxError: 0 });
};

/** The configured dispatch of a module's contraction, without symbol names. */
async function contractionDispatch(
  { compiler, flags, workDirectory }: Toolchain,
  name: string,
  text: string,
) {
  const [source, dumps] = [join(workDirectory, `${name}.mlir`), join(workDirectory, name)];
  writeFileSync(source, text);
  const dump = `--iree-hal-dump-executable-configurations-to=${dumps}`;
  const { ok, stderr } = await runTool(
    compiler,
    [...flags, '--compile-to=executable-configurations', dump, source, '-o', `${dumps}.out`],
    60,
    new AbortController().signal,
  );
  expect(ok, stderr).toBe(true);
  const found = readdirSync(dumps)
    .map((file) => readFileSync(join(dumps, file), 'utf8'))
    .filter((dispatch) => dispatch.includes('lowering_config') && dispatch.includes('linalg.matmul'));
  expect(found).toHaveLength(1);
  return found[0]!.replace(/@\w+/g, '@');
}

describe('a module of candidates compiles and runs on varied operands', () => {
  const forms: readonly [string, OperationWork][] = [
    ['matmul', matmul(8, 16, 32)],
    ['matmul with a transposed rhs', laidOut(matmul(8, 16, 32), [0, 2], [1, 2])],
    ['matmul with a transposed lhs', laidOut(matmul(8, 16, 32), [2, 0], [2, 1])],
    ['matmul with a transposed result', laidOut(matmul(8, 16, 32), [0, 2], [2, 1], [1, 0])],
    ['batched matmul', workload({ batch: 2, m: 8, n: 16, k: 32 })],
    ['matvec', workload({ m: 8, k: 32 })],
    ['vecmat', workload({ n: 8, k: 32 })],
    ['dot', workload({ k: 32 })],
    ['f16 with f16 accumulators', matmul(8, 16, 32, ['f16', 'f16', 'f16'])],
    ['f16 with f32 accumulators', matmul(8, 16, 32, ['f16', 'f16', 'f32'])],
    ['bf16 with f32 accumulators', matmul(8, 16, 32, ['bf16', 'bf16', 'f32'])],
    ['i8 with i32 accumulators', matmul(8, 16, 32, ['i8', 'i8', 'i32'])],
    ['operands wider than their sum', matmul(8, 16, 32, ['f32', 'f32', 'f16'])],
    [
      'operands wider than their sum, without a named operation',
      laidOut(matmul(8, 16, 32, ['f32', 'f32', 'f16']), [0, 2], [2, 1], [1, 0]),
    ],
    [
      'integers wider than their sum, without a named operation',
      laidOut(matmul(8, 16, 32, ['i32', 'i32', 'i8']), [0, 2], [2, 1], [1, 0]),
    ],
    ['f64', matmul(8, 16, 32, ['f64', 'f64', 'f64'])],
    ['a constant rhs', { ...matmul(8, 16, 32), constantRhs: true }],
  ];
  let module: string;
  beforeAll(async () => {
    const parts = forms.map(([, form], i) => ({
      workload: form,
      candidates: [{ name: `stock${i}`, attribute: null }],
    }));
    module = await compileTogether(tools, parts, moduleOf(parts, withFillers(parts)), 'forms');
  });

  test.each(forms.map(([what, form], i) => [what, form, `stock${i}`] as const))(
    'for %s',
    async (_, { dimensions, accumulator }, name) => {
      const [output] = (await outputsOf(tools, [module], [name], 60))!;
      const size = accumulator.dimensions.reduce((product, d) => product * dimensions[d]!.size, 1);
      const values = Array.from(decodeElements(output!, accumulator.elementType)!, Number);
      expect(values).toHaveLength(size);
      if (size > 1) expect(new Set(values).size).toBeGreaterThan(1);
      expect(values.some((value) => value !== 0)).toBe(true);
    },
  );
});

describe('a module of candidates', () => {
  test('runs one function for each size of a dynamic dimension, on the operands of that size', async () => {
    const sizes = [3, 8];
    const dynamic = withSizes(matmul(8, 16, 32), ...sizes);
    const attribute = attributeOf({ ...tile, peeling: true }, dynamic, tools.release);
    const tuned = { name: 'c0', attribute };
    const { module, refused } = await buildCandidates(tools, dynamic, [stock, tuned], 'dynamic');
    expect([...refused]).toEqual([]);
    for (const [i, size] of sizes.entries()) {
      const [expected, actual] = [
        await outputOf(tools, dynamic, module!, `stock_at${i}`),
        await outputOf(tools, dynamic, module!, `c0_at${i}`),
      ];
      expect(expected).toHaveLength(size * 16 * 4);
      expectEqual(expected, actual);
    }
    const options = { repetitions: 2, minSeconds: 0.001, timeoutSeconds: 30 };
    const { seconds } = await timeCandidates(tools, dynamic, module!, ['stock', 'c0'], options);
    expect([...seconds].map(([name, values]) => [name, values.length])).toEqual([
      ['stock', 2],
      ['c0', 2],
    ]);
  });

  test('has the truth for narrow accumulators, exact at each size', { tags: 'full' }, async () => {
    const shape = { ...matmul(8, 16, 2000, ['bf16', 'bf16', 'bf16']), constantRhs: true };
    const sizes = [3, 8];
    const dynamic = withSizes(shape, ...sizes);
    const { module, refused } = await buildCandidates(tools, dynamic, [stock, ...truthOf(dynamic)], 'truth');
    expect([...refused]).toEqual([]);
    for (const [i, size] of sizes.entries()) {
      const [rounded, exact] = [
        decodeElements((await outputOf(tools, dynamic, module!, `stock_at${i}`))!, 'bf16')!,
        decodeElements((await outputOf(tools, dynamic, module!, `truth_at${i}`))!, 'f32')!,
      ];
      expect(exact).toHaveLength(size * 16);
      const sums = Array.from(exact, Number);
      expect(sums.every(Number.isInteger)).toBe(true);
      // Above 256, bf16 has no odd integers.
      expect(sums.some((sum) => sum > 256 && sum % 2 === 1)).toBe(true);
      // The operands are the same: sums are about 500, and rounding moves them less than this.
      for (const [j, sum] of sums.entries()) expect(Math.abs(sum - Number(rounded[j]))).toBeLessThan(100);
    }
    for (const types of [['f32', 'f32', 'f32'] as const, ['bf16', 'bf16', 'f32'] as const])
      expect(truthOf(matmul(8, 16, 32, types))).toEqual([]);
  });

  test('gets the same code as a program', async () => {
    const shape = matmul(64, 96, 32);
    const candidate = candidateModule(shape, [{ name: 'main', attribute: null }]);
    const program = `func.func @main(%lhs: tensor<64x32xf32>, %rhs: tensor<32x96xf32>) -> tensor<64x96xf32> {
${candidate.slice(candidate.indexOf('  %zero = arith.constant 0.0'), candidate.lastIndexOf('}'))}`;
    const [ours, theirs] = await Promise.all([
      contractionDispatch(tools, 'candidate', candidate),
      contractionDispatch(tools, 'program', program),
    ]);
    expect(ours).toContain('linalg.matmul');
    expect(ours).toBe(theirs);
  });

  test('maps a line to its candidate', () => {
    const text = candidateModule(matmul(4, 4, 4), [stock, { name: 'c1', attribute: null }]);
    const lines = text.split('\n');
    const at = (name: string) => lines.findIndex((line) => line.startsWith(`func.func @${name}(`)) + 1;
    expect(candidateAtLine(text, at('stock') + 3)).toBe('stock');
    expect(candidateAtLine(text, at('c1'))).toBe('c1');
    expect(candidateAtLine(text, 1)).toBeNull();
  });

  test('maps a line of a function for one size to its candidate', () => {
    const text = candidateModule(withSizes(matmul(8, 16, 32), 3, 8), [stock]);
    const line = text.split('\n').findIndex((one) => one.startsWith('func.func @stock_at1(')) + 1;
    expect(line).toBeGreaterThan(0);
    expect(candidateAtLine(text, line + 3)).toBe('stock');
  });
});

describe('measuring', () => {
  test('drops a candidate that the compiler refuses, times the others and finds their outputs equal', async () => {
    const shape = matmul(64, 64, 64);
    const good = attributeOf(tile, shape, tools.release);
    const tooLarge = attributeOf(
      { ...tile, distribution: [64, 64, 0], vectorCommonParallel: [64, 64, 0] },
      shape,
      tools.release,
    );
    const { built, refused, module } = await buildCandidates(
      tools,
      shape,
      [stock, { name: 'good', attribute: good }, { name: 'large', attribute: tooLarge }],
      'measured',
    );
    const names = ['stock', 'good'];
    expect(built.map(({ name }) => name)).toEqual(names);
    expect([...refused.keys()]).toEqual(['large']);
    expect(refused.get('large')).toMatch(/large vector sizes/);
    const options = { repetitions: 2, minSeconds: 0.001, timeoutSeconds: 30 };
    const { seconds, failed } = await timeCandidates(tools, shape, module!, names, options);
    expect([...failed]).toEqual([]);
    expect([...seconds.keys()]).toEqual(names);
    const [expected, actual] = await Promise.all(names.map((name) => outputOf(tools, shape, module!, name)));
    expectEqual(expected!, actual!);
  });

  test('sets the placement of operands', async () => {
    const fake = join(tools.workDirectory, 'placing');
    // Reports its tunables as the name of a function.
    writeFileSync(
      fake,
      '#!/bin/sh\necho "{\\"benchmarks\\":[{\\"name\\":\\"BM_${GLIBC_TUNABLES%%=*}/x\\",\\"run_type\\":\\"iteration\\",\\"real_time\\":1,\\"time_unit\\":\\"ms\\"}]}"\n',
      { mode: 0o755 },
    );
    const options = { repetitions: 1, minSeconds: 0.001, timeoutSeconds: 5 };
    const names = ['glibc.malloc.mmap_threshold'];
    const inPlacement = (placement: Placement) =>
      benchmark({ ...tools, benchmarkModule: fake }, ['none.vmfb'], names, { ...options, placement });
    expect([...(await inPlacement('packed')).seconds.keys()]).toEqual(names);
    expect([...(await inPlacement('apart')).seconds.keys()]).toEqual([]);
  });

  test('detects whether the second placement differs', async () => {
    const report = process.report.getReport() as { header: { glibcVersionRuntime?: string } };
    const isGlibc = report.header.glibcVersionRuntime !== undefined;
    expect(await placementsHere(tools)).toEqual(isGlibc ? ['apart', 'packed'] : ['apart']);
    // Behaves like a C library without these tunables.
    const other = join(tools.workDirectory, 'other-library');
    writeFileSync(other, `#!/bin/sh\nunset GLIBC_TUNABLES\nexec '${tools.runModule}' "$@"\n`, {
      mode: 0o755,
    });
    expect(await placementsHere({ ...tools, runModule: other })).toEqual(['apart']);
    const broken = join(tools.workDirectory, 'broken');
    writeFileSync(broken, '#!/bin/sh\nexit 1\n', { mode: 0o755 });
    expect(await placementsHere({ ...tools, runModule: broken })).toEqual(['apart', 'packed']);
  });

  test('blames a candidate that times out and still times the others', async () => {
    // The benchmark tool hangs whenever it runs c1.
    const fake = join(tools.workDirectory, 'hanging');
    writeFileSync(
      fake,
      '#!/bin/sh\ncase "$*" in *BM_\\(c0\\)/*) echo \'{"benchmarks":[{"name":"BM_c0/x","run_type":"iteration","real_time":1,"time_unit":"ms"}]}\';; *) exec sleep 60;; esac\n',
      { mode: 0o755 },
    );
    const options = { repetitions: 1, minSeconds: 0.001, timeoutSeconds: 0.5 };
    const result = await benchmark({ ...tools, benchmarkModule: fake }, ['none.vmfb'], ['c0', 'c1'], options);
    expect([...result.seconds.keys()]).toEqual(['c0']);
    expect(result.failed.get('c1')).toMatch(/took longer/);
    // Nothing is said about candidates for which no time was left.
    const limited = { ...options, limitSeconds: 1 };
    const names = ['c1', 'c0'];
    const cut = await benchmark({ ...tools, benchmarkModule: fake }, ['none.vmfb'], names, limited);
    expect([cut.seconds.size, cut.failed.size]).toEqual([0, 0]);
  });
});
