// Dispatches of programs as candidates: they compile, run on alternating weights, and wrong results are found.
import { beforeAll, describe, expect, test } from 'vitest';
import { buildCandidates, type Build } from '../../src/measure/build.ts';
import { timeCandidates } from '../../src/measure/benchmark.ts';
import { candidateOf, stockCandidate, type Candidate } from '../../src/measure/candidate-module.ts';
import type { Toolchain } from '../../src/measure/toolchain.ts';
import { compareOutputs, dispatchAllowance } from '../../src/measure/verify.ts';
import { verifyCandidates } from '../../src/measure/verify-candidates.ts';
import type { OperationWork } from '../../src/workload/workload.ts';
import { STRIDED_TILES, tiles } from '../support/backend.ts';
import { temporaryDirectory } from '../support/folders.ts';
import { guardedOutputOf, outputOf, toolchain } from '../support/real-tools.ts';
import { streamedRoots } from './together.ts';

const VECTOR = tiles([64, 0], [16, 0], [0, 4]);

const guarded = (candidate: Candidate): Candidate => ({ ...candidate, isGuarded: true });

describe('candidates of a dispatch', { timeout: 300_000 }, () => {
  let tools: Toolchain;
  let workloads: readonly OperationWork[];
  /** A dispatch with several buffers of weights, and its candidates: the default, a refused one, and tiles. */
  let streamed: OperationWork;
  let build: Build;

  beforeAll(async () => {
    tools = await toolchain(temporaryDirectory());
    workloads = await streamedRoots(tools);
    streamed = workloads.find(({ context }) =>
      context?.dispatch!.arguments.some(({ buffers }) => buffers > 1),
    )!;
    const bad = { name: 'bad', attribute: 'lowering_config = #iree_cpu.lowering_config<distribution = "x">' };
    const own = candidateOf('own', VECTOR, streamed, tools.release);
    build = await buildCandidates(
      tools,
      streamed,
      [stockCandidate('stock'), bad, own].map(guarded),
      'streamed',
    );
  });

  test('are blamed one by one for the compiler’s errors', () => {
    expect([...build.refused.keys()]).toEqual(['bad']);
    expect(build.built.map(({ name }) => name)).toEqual(['stock', 'own']);
  });

  test('are verified and timed, with several buffers of weights', async () => {
    const { dimensions, context } = streamed;
    expect(dimensions.map(({ size }) => size)).toEqual([256, 256]);
    expect(context!.dispatch!.arguments.map(({ buffers }) => buffers)).toEqual([1, 256, 1, 1]);
    const verified = await verifyCandidates(tools, streamed, build, 'stock', ['own'], 60);
    expect(verified!.get('own')).toMatchObject({ outcome: 'right' });
    const output = (await outputOf(tools, streamed, build.module!, 'own'))!;
    expect(await guardedOutputOf(tools, streamed, build.module!, 'own', output.length)).toEqual(output);
    const timings = await timeCandidates(tools, streamed, build.module!, ['stock', 'own'], {
      ...{ repetitions: 2, minSeconds: 0.001, timeoutSeconds: 60 },
    });
    expect([...timings.seconds.keys()].sort()).toEqual(['own', 'stock']);
    expect(timings.failed).toEqual(new Map());
  });

  test('may write a part of a tensor', async () => {
    const workload = workloads.find(({ context }) => context?.dispatch!.isStrided)!;
    const own = candidateOf('own', STRIDED_TILES, workload, tools.release);
    const build = await buildCandidates(
      tools,
      workload,
      [stockCandidate('stock'), own].map(guarded),
      'padded',
    );
    expect(build.refused).toEqual(new Map());
    const verified = await verifyCandidates(tools, workload, build, 'stock', ['own'], 60);
    expect(verified!.get('own')).toMatchObject({ outcome: 'right' });
    const output = (await outputOf(tools, workload, build.module!, 'own'))!;
    expect(await guardedOutputOf(tools, workload, build.module!, 'own', output.length)).toEqual(output);
    const values = new Float32Array(output.buffer, output.byteOffset, 6 * 6 * 48);
    expect(values.subarray(0, 7 * 48).every((value) => value === 0)).toBe(true);
    expect(values.subarray(7 * 48, 11 * 48).some((value) => value !== 0)).toBe(true);
  });

  test('are wrong if they compute another result', async () => {
    const dispatch = streamed.context!.dispatch!;
    const faulty = {
      ...streamed,
      context: {
        ...streamed.context!,
        dispatch: { ...dispatch, text: dispatch.text.replace('arith.addf', 'arith.subf') },
      },
    };
    expect(faulty.context.dispatch.text).not.toBe(dispatch.text);
    const other = await buildCandidates(tools, faulty, [stockCandidate('stock')], 'wrong');
    const right = (await outputOf(tools, streamed, build.module!, 'stock'))!;
    const wrong = (await outputOf(tools, streamed, other.module!, 'stock'))!;
    const allowance = dispatchAllowance(right, 'f32');
    expect(compareOutputs(right, right, 'f32', allowance).outcome).toBe('right');
    expect(compareOutputs(right, wrong, 'f32', allowance).outcome).toBe('wrong-result');
  });
});
