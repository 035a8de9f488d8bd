// Times candidates at every combination of sizes of their workload.
import { meterOf } from '../backend/index.ts';
import { workloadFlops, type OperationWork } from '../workload/workload.ts';
import { failuresAlone } from './alone.ts';
import { benchmark, type BenchmarkOptions } from './benchmark.ts';
import { functionNames } from './candidate-module.ts';
import { loadedWith } from './common-modules.ts';
import { undisturbed } from './statistics.ts';
import type { Toolchain } from './toolchain.ts';

export interface CandidateTimings {
  /** Undisturbed seconds of one execution: for each candidate one value per combination of sizes. */
  readonly seconds: ReadonlyMap<string, readonly number[]>;
  /** A message for each candidate that crashed, failed or timed out. */
  readonly failed: ReadonlyMap<string, string>;
}

/**
 * Times these candidates of a module, interleaved.
 * @throws StoppedError when the toolchain's signal fires
 */
export async function timeCandidates(
  toolchain: Toolchain,
  workload: OperationWork,
  module: string,
  candidates: readonly string[],
  options: BenchmarkOptions,
): Promise<CandidateTimings> {
  const modules = await loadedWith(toolchain, workload, module);
  if (modules === null)
    return {
      seconds: new Map(),
      failed: new Map(candidates.map((name) => [name, 'the operands cannot be filled'])),
    };
  const meter = meterOf(toolchain.device);
  const failed = new Map(
    meter.isVerifiedAlone(toolchain.device)
      ? await failuresAlone(toolchain, workload, module, candidates)
      : [],
  );
  const right = candidates.filter((name) => !failed.has(name));
  const seconds = new Map<string, readonly number[]>();
  if (right.length === 0) return { seconds, failed };
  const all = right.flatMap((name) => functionNames(workload, name));
  const timings = await benchmark(toolchain, modules, all, options);
  const repeats = meter.repeats(toolchain.device, workloadFlops(workload));
  for (const name of right) {
    const functions = functionNames(workload, name);
    const failure = functions.map((one) => timings.failed.get(one)).find((reason) => reason !== undefined);
    const own = functions.map((one) => undisturbed(timings.seconds.get(one) ?? []) / repeats);
    if (failure !== undefined) failed.set(name, failure);
    else if (own.every(Number.isFinite)) seconds.set(name, own);
  }
  return { seconds, failed };
}
