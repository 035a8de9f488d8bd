// Times candidates at every combination of sizes of their workload.
import { meterOf } from '../backend/index.ts';
import { workloadFlops, type OperationWork } from '../workload/workload.ts';
import { benchmark, type ProcessEffort, type Timings } from './benchmark.ts';
import { functionNames } from './candidate-module.ts';
import { loadedWith } from './common-modules.ts';
import { undisturbed } from './statistics.ts';
import type { Toolchain } from './toolchain.ts';

/**
 * Times these candidates of a module, interleaved.
 * @returns undisturbed times: for each candidate one value per combination of sizes
 * @throws StoppedError when the toolchain's signal fires
 */
export async function timeCandidates(
  toolchain: Toolchain,
  workload: OperationWork,
  module: string,
  candidates: readonly string[],
  options: ProcessEffort,
): Promise<Timings> {
  const seconds = new Map<string, readonly number[]>();
  const modules = await loadedWith(toolchain, workload, module);
  const reason = 'the operands cannot be filled';
  if (modules === null) return { seconds, failed: new Map(candidates.map((name) => [name, reason])) };
  const all = candidates.flatMap((name) => functionNames(workload, name));
  const timings = await benchmark(toolchain, modules, all, options);
  const repeats = meterOf(toolchain.device).repeats(toolchain.device, workloadFlops(workload));
  const failed = new Map<string, string>();
  for (const name of candidates) {
    const functions = functionNames(workload, name);
    const failure = functions.map((one) => timings.failed.get(one)).find((reason) => reason !== undefined);
    const own = functions.map((one) => undisturbed(timings.seconds.get(one) ?? []) / repeats);
    if (failure !== undefined) failed.set(name, failure);
    else if (own.every(Number.isFinite)) seconds.set(name, own);
  }
  return { seconds, failed };
}
