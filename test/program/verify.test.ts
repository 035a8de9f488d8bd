import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { writeInputs } from '../../src/program/inputs.ts';
import { compareProgram } from '../../src/program/results.ts';
import { timeProgram, type Contest, type Verdict } from '../../src/program/verify.ts';
import { verifyProgram } from '../../bench/shared/verify-program.ts';
import { describeDevice } from '../../src/backend/llvm-cpu/cpu.ts';
import { temporaryDirectory } from '../support/folders.ts';
import { runtimeTool } from '../support/real-tools.ts';
import { npy } from './npy.ts';
import { compile, onlyFunction } from './support.ts';

const matrix = 'tensor<64x64xf32>';
/** A program with two results: a product, and an elementwise operation `second`. */
const program = (
  second: string,
  name = 'main',
) => `func.func @${name}(%a: ${matrix}, %b: ${matrix}) -> (${matrix}, ${matrix}) {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : ${matrix}
  %init = linalg.fill ins(%zero : f32) outs(%empty : ${matrix}) -> ${matrix}
  %0 = linalg.matmul ins(%a, %b : ${matrix}, ${matrix}) outs(%init : ${matrix}) -> ${matrix}
  %1 = arith.${second} %a, %b : ${matrix}
  return %0, %1 : ${matrix}, ${matrix}
}`;
const sum = program('addf');

const folder = temporaryDirectory();
const tools = {
  runModule: runtimeTool('iree-run-module'),
  benchmarkModule: runtimeTool('iree-benchmark-module'),
};

/** Modules by text, because most tests run the same program. */
const compiled = new Map<string, Promise<string>>();
function moduleOf(text: string): Promise<string> {
  const module = compiled.get(text) ?? compile(text, folder, `module${compiled.size}`);
  compiled.set(text, module);
  return module;
}

const EXTENT = { pairs: 2, seconds: 60 };

async function contestOf(stock: string, tuned: string, changes: Partial<Contest> = {}): Promise<Contest> {
  const called = onlyFunction(stock);
  return {
    stock: await moduleOf(stock),
    tuned: await moduleOf(tuned),
    function: called,
    inputs: writeInputs(called, folder, 1),
    device: describeDevice('local-sync'),
    tools,
    folder: results,
    ...changes,
  };
}

const verify = async (
  stock: string,
  tuned: string,
  changes: Partial<Contest> = {},
  extent = EXTENT,
): Promise<Verdict> => verifyProgram(await contestOf(stock, tuned, changes), extent);

/** Compares the results on random inputs. */
const compared = async (stock: string, tuned: string, changes: Partial<Contest> = {}) =>
  compareProgram(await contestOf(stock, tuned, { isRandom: true, ...changes }), 60);

const results = temporaryDirectory();
afterEach(() => {
  // Temporary results are removed after failures, too.
  expect(readdirSync(results)).toEqual([]);
});

test('equal programs are timed', async () => {
  const { timing, ...verdict } = await verify(sum, sum);
  const compared = 'equal bit for bit in one call';
  expect(verdict).toEqual({ equal: true, maxError: 0, compared, reason: null });
  expect(timing!.seconds[0]).toBeGreaterThan(0);
  expect(timing!.low).toBeLessThanOrEqual(timing!.ratio);
  expect(timing!.high).toBeGreaterThanOrEqual(timing!.ratio);
});

test('a difference in the last of several results is found, and the program is not timed', async () => {
  const verdict = await verify(sum, program('subf'));
  expect(verdict).toMatchObject({ equal: false, timing: null });
  expect(verdict.maxError).toBeGreaterThan(1);
  expect(verdict.reason).toMatch(/^result 1: .*element \d+ is -?[\d.]+ instead of -?[\d.]+/);
});

test('a tuned program without the function is not equal', async () => {
  const verdict = await verify(sum, program('addf', 'other'));
  expect(verdict).toMatchObject({ equal: false, maxError: Infinity, timing: null });
  expect(verdict.reason).toMatch(/^tuned cannot be run: .*no function `main`/);
});

test('there is no verdict if stock rejects the inputs', async () => {
  const verdict = await verify(sum, sum, { inputs: [] });
  expect(verdict).toMatchObject({ equal: null, timing: null });
  expect(verdict.reason).toMatch(/^stock cannot be run: .*expected 2 arguments but passed 0/);
});

test("there is no verdict if stock's module is missing", async () => {
  const verdict = await verify(sum, sum, { stock: join(folder, 'missing.vmfb') });
  expect(verdict).toMatchObject({ equal: null, timing: null });
  expect(verdict.reason).toContain('missing.vmfb');
});

/** A scripted tool. */
function script(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, `#!/bin/sh\n${text}\n`, { mode: 0o755 });
  return path;
}

test('there is no verdict if a call of stock exceeds the time limit', async () => {
  const hanging = { tools: { ...tools, runModule: script('hang', 'exec sleep 60') } };
  const verdict = await verify(sum, sum, hanging, { pairs: 2, seconds: 1 });
  expect(verdict).toMatchObject({ equal: null, timing: null });
  expect(verdict.reason).toContain('took longer than');
});

test('a program that takes too long to time is only compared', async () => {
  const slow = script('slow', `sleep 0.6; exec '${tools.runModule}' "$@"`);
  const slowly = { tools: { ...tools, runModule: slow } };
  const verdict = await verify(sum, sum, slowly, { pairs: 5, seconds: 3 });
  expect(verdict).toEqual({
    equal: true,
    maxError: 0,
    compared: 'equal bit for bit in one call',
    reason: 'timing it would take more than 3.0 s',
    timing: null,
  });
});

test('the comparison stays if the benchmark fails', async () => {
  const verdict = await verify(sum, sum, { tools: { ...tools, benchmarkModule: '/bin/false' } });
  expect(verdict).toMatchObject({ equal: true, timing: null });
  expect(verdict.reason).toContain('could not be timed');
});

test('each dispatch has a time', async () => {
  const { timing, dispatches } = await timeProgram(await contestOf(sum, sum), 0.1, EXTENT);
  expect(timing).not.toBeNull();
  expect(dispatches).toHaveLength(2);
  for (const times of dispatches.flat())
    // The runtime sorts by time, and both take about as long.
    expect([...times].sort(([a], [b]) => a.localeCompare(b))).toMatchObject([
      [
        expect.stringMatching(/^main_dispatch_0_matmul_/),
        { seconds: expect.any(Number) as number, calls: 1 },
      ],
      [expect.stringMatching(/^main_dispatch_1_elementwise/), { calls: 1 }],
    ]);
});

test('a runtime without statistics of dispatches still times the program', async () => {
  const old = script(
    'old',
    `case "$*" in *statistics*) echo "flag 'dispatch_statistics' not recognized" >&2; exit 1;; esac; exec '${tools.benchmarkModule}' "$@"`,
  );
  const contest = await contestOf(sum, sum, { tools: { ...tools, benchmarkModule: old } });
  const { reason, timing, dispatches } = await timeProgram(contest, 0.1, EXTENT);
  expect({ reason, sizes: dispatches.flat().map(({ size }) => size) }).toEqual({
    reason: null,
    sizes: [0, 0, 0, 0],
  });
  expect(timing!.seconds[0]).toBeGreaterThan(0);
});

test('a program that overwrites an argument is compared', async () => {
  const type = '[8,8],f32>';
  const text = `module { func.func @main(%a: !torch.vtensor<${type}, %out: !torch.tensor<${type}) -> !torch.vtensor<${type} {
    torch.overwrite.tensor.contents %a overwrites %out : !torch.vtensor<${type}, !torch.tensor<${type}
    return %a : !torch.vtensor<${type}
  } }`;
  expect(await verify(text, text)).toMatchObject({ equal: true, reason: null });
});

describe('results that are not finite', () => {
  /** A product and a function of the first argument. */
  const withRoot = (root: string) =>
    program('addf')
      .replace(
        `%1 = arith.addf %a, %b : ${matrix}`,
        `%z = arith.mulf %a, %zeros : ${matrix}\n  %1 = ${root} : ${matrix}`,
      )
      .replace('%zero = ', `%zeros = arith.constant dense<0.0> : ${matrix}\n  %zero = `);
  const roots = withRoot('math.sqrt %a');

  test('by negative roots are compared on scaled inputs', { tags: 'full' }, async () => {
    expect(await compared(roots, roots)).toMatchObject({ equal: true, reason: null });
    expect(await compared(roots, withRoot('arith.addf %z, %a'))).toMatchObject({ equal: false });
  });

  test(
    'by values that grow from layer to layer are compared on scaled inputs',
    { tags: 'full' },
    async () => {
      const layers = Array.from(
        { length: 40 },
        (_, i) =>
          `  %l${i + 1} = linalg.matmul ins(%l${i}, %b : ${matrix}, ${matrix}) outs(%init : ${matrix}) -> ${matrix}`,
      );
      const deep = (last: string) =>
        program('addf').replace(
          / {2}%1 = .*/,
          [...layers, `  %1 = ${last} %l40, %l39 : ${matrix}`].join('\n').replace('%l0,', '%a,'),
        );
      const stock = deep('arith.addf');
      expect(await compared(stock, stock)).toMatchObject({ equal: true, reason: null });
      expect(await compared(stock, deep('arith.subf'))).toMatchObject({ equal: false });
    },
  );

  test(
    'of one function of a group are compared on positive inputs, and those of the others on all inputs',
    { tags: 'full' },
    async () => {
      const group = { isGroup: true };
      expect(await compared(roots, roots, group)).toMatchObject({
        equal: true,
        compared: 'equal bit for bit in 2 calls',
      });
      const wrongs = [
        withRoot('arith.addf %z, %a'),
        // Only negative numbers show that the first result is wrong.
        roots.replace('return %0', `%w = math.absf %0 : ${matrix}\n  return %w`),
      ];
      for (const wrong of wrongs) expect(await compared(roots, wrong, group)).toMatchObject({ equal: false });
    },
  );

  test('on integer inputs are compared as they are', { tags: 'full' }, async () => {
    const masked = (operation: string) => `func.func @main(%a: tensor<8xi32>) -> tensor<8xf32> {
      %f = arith.sitofp %a : tensor<8xi32> to tensor<8xf32>
      %i = arith.constant dense<0xFF800000> : tensor<8xf32>
      %r = arith.${operation} %f, %i : tensor<8xf32>
      return %r : tensor<8xf32>
    }`;
    const stock = masked('addf');
    expect(await compared(stock, stock)).toMatchObject({ equal: true, reason: null });
    expect((await compared(stock, masked('maximumf'))).equal).not.toBe(true);
  });

  test("on generated inputs are compared on the user's data, which no other inputs replace", async () => {
    const rooted = (
      operation: string,
    ) => `func.func @main(%a: tensor<8xi32>, %b: tensor<8x2xf32>) -> tensor<8x2xf32> {
      %low = arith.constant dense<50> : tensor<8xi32>
      %i = arith.subi %a, %low : tensor<8xi32>
      %f = arith.sitofp %i : tensor<8xi32> to tensor<8xf32>
      %r = math.sqrt %f : tensor<8xf32>
      %e = tensor.empty() : tensor<8x2xf32>
      %w = linalg.broadcast ins(%r : tensor<8xf32>) outs(%e : tensor<8x2xf32>) dimensions = [1]
      %s = arith.${operation} %w, %b : tensor<8x2xf32>
      return %s : tensor<8x2xf32>
    }`;
    const data = join(folder, 'tokens.npy');
    writeFileSync(data, npy('<i4', [8], new Int32Array([50, 51, 52, 53, 54, 55, 56, 57])));
    const given = new Map([[0, `@${data}`]]);
    const stock = rooted('addf');
    const inputs = writeInputs(onlyFunction(stock), folder, 1, given);
    const onOwn = { given, inputs, draws: 2 };
    expect(await compared(stock, stock)).toMatchObject({ equal: null });
    expect(await compared(stock, stock, onOwn)).toMatchObject({
      equal: true,
      compared: 'equal bit for bit in 2 calls',
    });
    expect(await compared(stock, rooted('subf'), onOwn)).toMatchObject({ equal: false });
  });

  test('on all inputs have no verdict', { tags: 'full' }, async () => {
    const nothing = withRoot('arith.divf %z, %z');
    expect(await compared(nothing, nothing)).toMatchObject({
      equal: null,
      reason: 'result 1 is NaN in 4096 of 4096 elements on these inputs',
    });
  });
});
