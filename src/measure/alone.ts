// Runs each candidate in its own process before candidates are timed together. On a GPU a kernel that hangs or writes out of
// bounds fails every kernel of its process.
import { resultTypeOf, workloadKey, type OperationWork } from '../workload/workload.ts';
import { functionNames } from './candidate-module.ts';
import type { Toolchain } from './toolchain.ts';
import { compareOutputs, exactAllowance, outputsOf } from './verify.ts';

/** Results of earlier runs with one toolchain. */
interface Known {
  /** The default's outputs, one for each combination of sizes, and the time of its process; by workload key. */
  readonly references: Map<string, { readonly outputs: readonly Uint8Array[]; readonly seconds: number }>;
  /** Failures by module and candidate; null for a correct candidate. */
  readonly outcomes: Map<string, string | null>;
}

const known = new WeakMap<Toolchain, Known>();

function knownTo(toolchain: Toolchain): Known {
  const own = known.get(toolchain) ?? { references: new Map(), outcomes: new Map() };
  known.set(toolchain, own);
  return own;
}

/** Notes that a candidate gave correct results in its own process, so that `checkedAlone` does not run it again. */
export const noteRight = (toolchain: Toolchain, module: string, name: string): void => {
  knownTo(toolchain).outcomes.set(`${module} ${name}`, null);
};

/** Time limit of a process of the default. */
const DEFAULT_SECONDS = 60;

/** Time limit of a candidate's process: a constant part, and a multiple of the default's time. */
const LEAST_SECONDS = 10;
const MOST_TIMES_SLOWER = 20;

/**
 * Runs each candidate alone, once for each module, and compares its result with the default's.
 * @param modules in loading order; the last module has the candidates
 * @param names of candidates; in the first call for a workload, the first name is the default
 * @param limitSeconds of all processes together
 * @returns why each candidate fails; null for a correct one. Candidates for which no time was left are not in it
 * @throws StoppedError when the toolchain's signal fires
 */
export async function checkedAlone(
  toolchain: Toolchain,
  workload: OperationWork,
  modules: readonly string[],
  names: readonly string[],
  limitSeconds = Infinity,
): Promise<ReadonlyMap<string, string | null>> {
  const all = (outcome: string | null) => new Map(names.map((name) => [name, outcome]));
  const begun = performance.now();
  const secondsLeft = () => limitSeconds - (performance.now() - begun) / 1000;
  const run = (name: string, seconds: number) =>
    outputsOf(toolchain, modules, functionNames(workload, name), seconds);
  const { references, outcomes } = knownTo(toolchain);
  const module = modules.at(-1)!;
  if (names.every((name) => outcomes.get(`${module} ${name}`) === null)) return all(null);
  let reference = references.get(workloadKey(workload));
  if (reference === undefined) {
    const begun = performance.now();
    const outputs = await run(names[0]!, DEFAULT_SECONDS);
    if (outputs === null) return all('the default does not run');
    reference = { outputs, seconds: (performance.now() - begun) / 1000 };
    references.set(workloadKey(workload), reference);
    noteRight(toolchain, module, names[0]!);
  }
  const type = resultTypeOf(workload);
  const longest = LEAST_SECONDS + MOST_TIMES_SLOWER * reference.seconds;
  const checked = new Map<string, string | null>();
  for (const name of names) {
    const key = `${module} ${name}`;
    if (!outcomes.has(key)) {
      const left = secondsLeft();
      if (left <= 0) continue;
      const outputs = await run(name, Math.min(longest, left));
      // A short time limit does not prove that the candidate is wrong.
      if (outputs === null && left < longest && secondsLeft() <= 0) continue;
      const reasons = outputs?.map(
        (output, i) => compareOutputs(reference.outputs[i]!, output, type, null, exactAllowance(type)).reason,
      ) ?? ['it failed in a process of its own'];
      outcomes.set(key, reasons.find((reason) => reason !== null) ?? null);
    }
    checked.set(name, outcomes.get(key)!);
  }
  return checked;
}
