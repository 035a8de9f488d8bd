// Whether candidates compute what the default does: the very functions that are timed, on exact and on full values.
import { candidatePhase, resultTypeOf, staticForms, type OperationWork } from '../workload/workload.ts';
import type { Build } from './build.ts';
import { functionNames } from './candidate-module.ts';
import { loadedWith } from './common-modules.ts';
import type { Values } from '../workload/fillers.ts';
import { canCompareFull, fullAllowance } from '../workload/contraction/rounding.ts';
import type { Toolchain } from './toolchain.ts';
import { compareOutputs, dispatchAllowance, exactAllowance, runFunction, type Comparison } from './verify.ts';

/** What is known of a candidate's output. */
export type Verification =
  | {
      readonly outcome: 'right';
      /** Largest absolute difference of an element to the default's. */
      readonly maxError: number;
    }
  | { readonly outcome: 'wrong-result' | 'run-error'; readonly reason: string };

/**
 * Compares the outputs of `names` with that of `stock`, at every size. With narrow accumulators, where another order of
 * summation rounds to something else, they are compared with the truth too, where the build has it.
 * @returns one verification for each name; null when there is nothing to compare with
 * @throws StoppedError when the toolchain's signal fires
 */
export async function verifyCandidates(
  toolchain: Toolchain,
  workload: OperationWork,
  { module, built }: Build,
  stock: string,
  names: readonly string[],
  timeoutSeconds: number,
): Promise<ReadonlyMap<string, Verification> | null> {
  if (module === null) return null;
  const truth = built.find(({ sumsIn }) => sumsIn !== undefined);
  const forms = staticForms(workload);
  const isDispatch = candidatePhase(workload) !== null;

  const verifyOn = async (values: Values): Promise<ReadonlyMap<string, Verification> | null> => {
    const modules = await loadedWith(toolchain, workload, module, values);
    if (modules === null) return null;
    /** At each size; null when one of them cannot be had. */
    const outputsOf = async (name: string): Promise<Uint8Array[] | null> => {
      const outputs: Uint8Array[] = [];
      for (const functionName of functionNames(workload, name)) {
        const output = await runFunction(toolchain, modules, functionName, timeoutSeconds);
        if (output === null) return null;
        outputs.push(output);
      }
      return outputs;
    };
    const references = await outputsOf(stock);
    if (references === null) return null;
    // Where it cannot be had, outputs are compared with the default's alone.
    const truths = truth === undefined ? null : await outputsOf(truth.name);
    const verified = new Map<string, Verification>();
    for (const name of names) {
      const outputs = await outputsOf(name);
      const comparisons = outputs?.map((output, i) =>
        compareOutputs(
          references[i]!,
          output,
          resultTypeOf(workload),
          truths?.[i],
          isDispatch
            ? dispatchAllowance(references[i]!, resultTypeOf(workload))
            : values === 'full'
              ? fullAllowance(forms[i]!, truths !== null)
              : exactAllowance(resultTypeOf(workload)),
        ),
      );
      verified.set(name, verificationOf(comparisons));
    }
    return verified;
  };

  const sets: readonly Values[] = canCompareFull(workload) ? ['exact', 'full'] : ['exact'];
  // Most of it is starting processes, and nothing is timed meanwhile.
  const verified = await Promise.all(sets.map(verifyOn));
  if (verified.includes(null)) return null;
  return new Map(names.map((name) => [name, worse(verified.map((one) => one!.get(name)!))]));
}

/** @param comparisons at each size; undefined when there is nothing to compare */
function verificationOf(comparisons: readonly Comparison[] | undefined): Verification {
  if (comparisons === undefined) return { outcome: 'run-error', reason: 'the program failed' };
  const different = comparisons.find(({ equal }) => !equal);
  if (different !== undefined)
    return { outcome: 'wrong-result', reason: different.reason ?? 'outputs differ' };
  return { outcome: 'right', maxError: Math.max(...comparisons.map(({ maxError }) => maxError)) };
}

/** What is not right in one of them is not right. */
function worse(some: readonly Verification[]): Verification {
  const right = some.flatMap((one) => (one.outcome === 'right' ? [one.maxError] : []));
  return (
    some.find(({ outcome }) => outcome !== 'right') ?? { outcome: 'right', maxError: Math.max(...right) }
  );
}
