// Runs each candidate in its own process before candidates are timed together. On a GPU a kernel that hangs or writes out of
// bounds fails every kernel of its process.
import { resultTypeOf, type OperationWork } from '../workload/workload.ts';
import { functionNames } from './candidate-module.ts';
import type { Toolchain } from './toolchain.ts';
import { compareOutputs, exactAllowance, outputsOf } from './verify.ts';

/** The default's outputs, one for each combination of sizes, and the seconds of its processes. */
export interface Reference {
  readonly outputs: readonly Uint8Array[];
  readonly seconds: number;
}

/** Time limit of a process of the default. */
const DEFAULT_SECONDS = 60;

/** Time limit of a candidate's process: a constant part, and a multiple of the default's time. */
const LEAST_SECONDS = 10;
const MOST_TIMES_SLOWER = 20;

/**
 * Runs the default alone; null if it fails.
 * @param modules in loading order; the last module has the default
 * @throws StoppedError when the toolchain's signal fires
 */
export async function referenceAlone(
  toolchain: Toolchain,
  workload: OperationWork,
  modules: readonly string[],
  name: string,
): Promise<Reference | null> {
  const begun = performance.now();
  const outputs = await outputsOf(toolchain, modules, functionNames(workload, name), DEFAULT_SECONDS);
  return outputs && { outputs, seconds: (performance.now() - begun) / 1000 };
}

/**
 * Runs each candidate alone, and compares its result with the default's.
 * @param modules in loading order; the last module has the candidates
 * @param limitSeconds of all processes together
 * @returns why each candidate fails; null for a correct one. Candidates for which no time was left are not in it
 * @throws StoppedError when the toolchain's signal fires
 */
export async function checkedAlone(
  toolchain: Toolchain,
  workload: OperationWork,
  modules: readonly string[],
  names: readonly string[],
  reference: Reference,
  limitSeconds = Infinity,
): Promise<ReadonlyMap<string, string | null>> {
  const end = performance.now() / 1000 + limitSeconds;
  const secondsLeft = () => end - performance.now() / 1000;
  const type = resultTypeOf(workload);
  const longest = LEAST_SECONDS + MOST_TIMES_SLOWER * reference.seconds;
  const checked = new Map<string, string | null>();
  for (const name of names) {
    const left = secondsLeft();
    if (left <= 0) break;
    const functions = functionNames(workload, name);
    const outputs = await outputsOf(toolchain, modules, functions, Math.min(longest, left));
    // A short time limit does not prove that the candidate is wrong.
    if (outputs === null && left < longest && secondsLeft() <= 0) break;
    const reasons = outputs?.map(
      (output, i) => compareOutputs(reference.outputs[i]!, output, type, null, exactAllowance(type)).reason,
    ) ?? ['it failed in a process of its own'];
    checked.set(name, reasons.find((reason) => reason !== null) ?? null);
  }
  return checked;
}
