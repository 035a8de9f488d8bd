// On a GPU that runs its commands in order, one call of a candidate reads weights from several buffers.
// In full after a change of src/measure.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Backend } from '../../src/backend/backend.ts';
import '../../src/backend/index.ts';
import { vulkan } from '../../src/backend/vulkan/index.ts';
import { buildCandidates } from '../../src/measure/build.ts';
import { candidateOf, stockCandidate } from '../../src/measure/candidate-module.ts';
import { timeCandidates } from '../../src/measure/benchmark.ts';
import { runTool } from '../../src/measure/toolchain.ts';
import { verifyCandidates } from '../../src/measure/verify-candidates.ts';
import { writesPart } from '../../src/workload/contraction/dispatch.ts';
import type { OperationWork } from '../../src/workload/workload.ts';
import { temporaryDirectory } from '../support/folders.ts';
import { casesOfTier, isWithout } from '../support/needs.ts';
import { outputOf } from '../support/real-tools.ts';
import { LLVMPIPE, vulkanToolchain, whyNoVulkan } from '../support/vulkan.ts';
import { streamedRoots } from './together.ts';

const EXECUTIONS = 3;
const BUFFERS = 4;

/** llvmpipe as a GPU that repeats its kernels. */
const repeating = { ...vulkan, meter: { ...vulkan.meter, repeats: () => EXECUTIONS, isInOrder: true } };

// Files share a worker and its loaded backends.
const loaded = (globalThis as { ireeTunedBackends?: Backend[] }).ireeTunedBackends!;
const before = [...loaded];
beforeAll(() => {
  loaded.splice(0, loaded.length, ...before.filter(({ name }) => name !== vulkan.name), repeating);
});
afterAll(() => {
  loaded.splice(0, loaded.length, ...before);
});

/** The same work with so many buffers of weights. */
function withBuffers(workload: OperationWork, buffers: number): OperationWork {
  const { dispatch, ...context } = workload.context!;
  const all = dispatch!.arguments.map((one, i) => (i === 1 ? { ...one, buffers } : one));
  return { ...workload, context: { ...context, dispatch: { ...dispatch!, arguments: all } } };
}

const results = [
  ['a part of a tensor', true],
  ['a whole result', false],
] as const;
test.skipIf(isWithout(whyNoVulkan())).each(casesOfTier(results, 1))(
  'candidates that write %s run on rotating weights in one call',
  async (_, isPart) => {
    const folder = temporaryDirectory();
    const tools = await vulkanToolchain(folder);
    const roots = await streamedRoots(tools);
    const found = roots.find(({ context }) => context && writesPart(context.dispatch!) === isPart)!;
    const [once, workload] = [withBuffers(found, 1), withBuffers(found, BUFFERS)];
    const space = vulkan.tuning(workload).space(LLVMPIPE);
    const [configuration] = space.starts.flatMap((point) => space.configurationAt(point) ?? []);
    const own =
      configuration === undefined
        ? stockCandidate('own')
        : candidateOf('own', configuration, workload, tools.release);
    const build = await buildCandidates(tools, workload, [stockCandidate('stock'), own], 'rotating');
    expect(build.refused).toEqual(new Map());

    const [candidates, hal] = [join(folder, 'rotating.mlir'), join(folder, 'hal.mlir')];
    const text = readFileSync(candidates, 'utf8').split('@own()')[1]!;
    const first = [...text.matchAll(/%ahead1_\d = arith\.constant (\d+)/g)].map(([, buffer]) =>
      Number(buffer),
    );
    // The last execution of the first call gives the result, of the first buffer.
    expect(first).toEqual([2, 3, 0]);
    // All executions are commands of one submission.
    const argv = [...tools.flags, '--compile-from=flow', '--compile-to=hal', candidates, '-o', hal];
    expect(await runTool(tools.compiler, argv, 60, tools.signal)).toMatchObject({ ok: true });
    const commands = readFileSync(hal, 'utf8').split('@__own_memoize_apply()')[1]!;
    expect(commands.match(/hal\.command_buffer\.create/g)).toHaveLength(1);
    expect(commands.match(/hal\.command_buffer\.dispatch</g)).toHaveLength(EXECUTIONS);

    const verified = await verifyCandidates(tools, workload, build, 'stock', ['own'], 60);
    expect(verified!.get('own')).toMatchObject({ outcome: 'right' });
    const plain = await buildCandidates(tools, once, [stockCandidate('stock')], 'plain');
    expect(await outputOf(tools, workload, build.module!, 'stock')).toEqual(
      await outputOf(tools, once, plain.module!, 'stock'),
    );
    const timings = await timeCandidates(tools, workload, build.module!, ['stock', 'own'], {
      ...{ repetitions: 2, minSeconds: 0.001, timeoutSeconds: 60 },
    });
    expect(timings.failed).toEqual(new Map());
    expect([...timings.seconds.keys()].sort()).toEqual(['own', 'stock']);
  },
);
