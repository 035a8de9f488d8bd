// Whether candidates compute what the default does: the very functions that are timed, on exact and on full values.
import { candidatePhase, resultTypeOf, staticForms, type Workload } from '../workload/workload.ts';
import type { Build } from './build.ts';
import { functionNames } from './candidate-module.ts';
import { loadedWith } from './common-modules.ts';
import type { Values } from '../workload/fillers.ts';
import { canCompareFull, fullAllowance } from '../workload/contraction/rounding.ts';
import type { Toolchain } from './toolchain.ts';
import { compareOutputs, dispatchAllowance, runFunction } from './verify.ts';

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
  workload: Workload,
  { module, built }: Build,
  stock: string,
  names: readonly string[],
  timeoutSeconds: number,
): Promise<ReadonlyMap<string, Verification> | null> {
  if (module === null) return null;
  const truth = built.find(({ sumsIn }) => sumsIn !== undefined);
  const forms = staticForms(workload);
  const isDispatch = candidatePhase(workload) !== null;
  const verified = new Map<string, Verification>(
    names.map((name) => [name, { outcome: 'right', maxError: 0 }]),
  );
  const sets: readonly Values[] = canCompareFull(workload) ? ['exact', 'full'] : ['exact'];
  for (const values of sets) {
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
    for (const [name, known] of verified) {
      if (known.outcome !== 'right') continue;
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
              : undefined,
        ),
      );
      const different = comparisons?.find(({ equal }) => !equal);
      if (comparisons === undefined)
        verified.set(name, { outcome: 'run-error', reason: 'the program failed' });
      else if (different !== undefined)
        verified.set(name, { outcome: 'wrong-result', reason: different.reason ?? 'outputs differ' });
      else {
        const maxError = Math.max(known.maxError, ...comparisons.map((comparison) => comparison.maxError));
        verified.set(name, { outcome: 'right', maxError });
      }
    }
  }
  return verified;
}
