// Runs each candidate in its own process before candidates are timed together. On a GPU a kernel that hangs or writes out of
// bounds fails every kernel of its process.
import { resultTypeOf, workloadKey, type OperationWork } from '../workload/workload.ts';
import { functionNames } from './candidate-module.ts';
import { loadedWith } from './common-modules.ts';
import type { Toolchain } from './toolchain.ts';
import { compareOutputs, exactAllowance, runFunction } from './verify.ts';

/** Result of the default in its own process. */
interface Reference {
  /** One output for each combination of sizes. */
  readonly outputs: readonly Uint8Array[];
  readonly seconds: number;
}

/** References by toolchain and workload key. */
const references = new WeakMap<Toolchain, Map<string, Reference>>();

/** Failures by toolchain, then by module and candidate; null for a correct candidate. */
const outcomes = new WeakMap<Toolchain, Map<string, string | null>>();

function outcomesOf(toolchain: Toolchain): Map<string, string | null> {
  const own = outcomes.get(toolchain) ?? new Map<string, string | null>();
  outcomes.set(toolchain, own);
  return own;
}

/** Notes that a candidate gave correct results in its own process, so that `failuresAlone` does not run it again. */
export const noteRight = (toolchain: Toolchain, module: string, name: string): void => {
  outcomesOf(toolchain).set(`${module} ${name}`, null);
};

/** Time limit of a process of the default. */
const DEFAULT_SECONDS = 60;

/** Time limit of a candidate's process: a constant part, and a multiple of the default's time. */
const LEAST_SECONDS = 10;
const MOST_TIMES_SLOWER = 20;

/**
 * Runs each candidate alone, once for each module, and compares its result with the default's.
 * @param names of candidates of the module; in the first call for a workload, the first name is the default
 * @returns a message for each candidate that fails
 * @throws StoppedError when the toolchain's signal fires
 */
export async function failuresAlone(
  toolchain: Toolchain,
  workload: OperationWork,
  module: string,
  names: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const modules = await loadedWith(toolchain, workload, module);
  if (modules === null) return new Map();
  const outputsOf = async (name: string, seconds: number): Promise<readonly Uint8Array[] | null> => {
    const outputs: Uint8Array[] = [];
    for (const one of functionNames(workload, name)) {
      const output = await runFunction(toolchain, modules, one, seconds);
      if (output === null) return null;
      outputs.push(output);
    }
    return outputs;
  };
  const outcomeOf = outcomesOf(toolchain);
  if (names.every((name) => outcomeOf.get(`${module} ${name}`) === null)) return new Map();
  const known = references.get(toolchain) ?? new Map<string, Reference>();
  references.set(toolchain, known);
  let reference = known.get(workloadKey(workload));
  if (reference === undefined) {
    const begun = performance.now();
    const outputs = await outputsOf(names[0]!, DEFAULT_SECONDS);
    if (outputs === null) return new Map(names.map((name) => [name, 'the default does not run']));
    reference = { outputs, seconds: (performance.now() - begun) / 1000 };
    known.set(workloadKey(workload), reference);
    noteRight(toolchain, module, names[0]!);
  }
  const type = resultTypeOf(workload);
  const failures = new Map<string, string>();
  for (const name of names) {
    const key = `${module} ${name}`;
    if (!outcomeOf.has(key)) {
      const outputs = await outputsOf(name, LEAST_SECONDS + MOST_TIMES_SLOWER * reference.seconds);
      const comparisons = outputs?.map((output, i) =>
        compareOutputs(reference.outputs[i]!, output, type, null, exactAllowance(type)),
      );
      outcomeOf.set(
        key,
        comparisons === undefined
          ? 'it failed in a process of its own'
          : (comparisons.find(({ equal }) => !equal)?.reason ?? null),
      );
    }
    const failure = outcomeOf.get(key);
    if (failure) failures.set(name, failure);
  }
  return failures;
}
