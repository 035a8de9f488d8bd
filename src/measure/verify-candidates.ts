// Verifies that candidates compute the default's results, with the kernels that are timed, on exact values and on values of all bits.
import { Semaphore } from '../system/semaphore.ts';
import {
  candidatePhase,
  resultTypeOf,
  staticForms,
  workloadBytes,
  type OperationWork,
} from '../workload/workload.ts';
import { noteRight } from './alone.ts';
import { isBuilt, type Build } from './build.ts';
import { functionNames } from './candidate-module.ts';
import { loadedWith } from './common-modules.ts';
import type { Values } from '../workload/fillers.ts';
import { areGuardsWhole, guardedBytes, guardedName, resultIn, UNWRITTEN_BYTE } from '../workload/guarded.ts';
import { canCompareFull, fullAllowance } from '../workload/contraction/rounding.ts';
import type { Toolchain } from './toolchain.ts';
import { compareOutputs, dispatchAllowance, exactAllowance, outputsOf, type Comparison } from './verify.ts';

/** Verdict on a candidate's results. `maxError` is the largest absolute difference of an element from the default's. */
export type Verification =
  | { readonly outcome: 'right'; readonly maxError: number }
  | { readonly outcome: 'wrong-result' | 'run-error'; readonly reason: string };

/** In bytes. A process can hold its operands twice, so processes with larger operands run one at a time. */
const LARGE_OPERANDS = 2 ** 28;

/** The slot of these processes, for all workloads. */
const oneAtATime = new Semaphore(1);

const WRITES_OUTSIDE: Verification = { outcome: 'wrong-result', reason: 'it writes outside of its result' };

/**
 * Compares the outputs of `names` with the output of `stock`, at every combination of sizes. Another order of summation rounds
 * differently in a narrow accumulator, so outputs are also compared with the truth if the build has it.
 * @param guarded another build of the same candidates, whose functions write their results between guards: see `guarded.ts`
 * @returns one verification for each name; null without a reference output
 * @throws StoppedError when the toolchain's signal fires
 */
export async function verifyCandidates(
  toolchain: Toolchain,
  workload: OperationWork,
  { module, built }: Build,
  stock: string,
  names: readonly string[],
  timeoutSeconds: number,
  guarded: Build | null = null,
): Promise<ReadonlyMap<string, Verification> | null> {
  if (module === null) return null;
  const truth = built.find(({ sumsIn }) => sumsIn !== undefined);
  const forms = staticForms(workload);
  const guards = guarded !== null && isBuilt(guarded, stock) ? guarded : null;
  const isDispatch = candidatePhase(workload) !== null;
  const type = resultTypeOf(workload);
  // Two processes of llvmpipe at once take ten times as long as one after the other, because its threads wait actively.
  const isOneByOne = toolchain.device.gpu !== undefined || workloadBytes(workload) > LARGE_OPERANDS;
  const run = (...of: Parameters<typeof outputsOf>) =>
    isOneByOne ? oneAtATime.run(() => outputsOf(...of)) : outputsOf(...of);

  const verifyOn = async (values: Values, isGuarded: boolean) => {
    const [modules, guardedModules] = await Promise.all(
      [module, guards?.module ?? module].map((one) => loadedWith(toolchain, workload, one, values)),
    );
    if (!modules || !guardedModules) return null;
    const plain = (name: string) => run(toolchain, modules, functionNames(workload, name), timeoutSeconds);
    const references = await plain(stock);
    if (references === null) return null;
    // If the truth fails to run, outputs are compared with the default's alone.
    const truths = truth === undefined ? null : await plain(truth.name);
    const allowanceAt = (form: number) => {
      if (isDispatch) return dispatchAllowance(references[form]!, type);
      return values === 'full' ? fullAllowance(forms[form]!, truths !== null) : exactAllowance(type);
    };
    const verificationOf = (outputs: readonly Uint8Array[] | null): Verification =>
      verificationOfAll(
        outputs?.map((output, i) =>
          compareOutputs(references[i]!, output, type, truths?.[i], allowanceAt(i)),
        ),
      );
    const betweenGuards = async (name: string): Promise<Verification> => {
      const functions = functionNames(workload, name).map(guardedName);
      const memory = await run(toolchain, guardedModules, functions, timeoutSeconds, (form) => [
        `${guardedBytes(references[form]!.length)}xi8=${UNWRITTEN_BYTE}`,
      ]);
      return memory?.every(areGuardsWhole) === false
        ? WRITES_OUTSIDE
        : verificationOf(memory?.map(resultIn) ?? null);
    };
    // If the default fails between guards, guards prove nothing about candidates.
    const areUsable = isGuarded && (await betweenGuards(stock)).outcome === 'right';
    const verified = new Map<string, Verification>();
    for (const name of names) {
      const isBetween = areUsable && isBuilt(guards!, name);
      verified.set(name, isBetween ? await betweenGuards(name) : verificationOf(await plain(name)));
    }
    return verified;
  };

  const isFull = canCompareFull(workload);
  // Starting a process takes most of the time, so both run at once where that is possible. Guards come first, because their reason is
  // more exact.
  const verified = await Promise.all([
    ...(isFull || guards !== null ? [verifyOn(isFull ? 'full' : 'exact', guards !== null)] : []),
    verifyOn('exact', false),
  ]);
  if (verified.includes(null)) return null;
  const verdicts = new Map(names.map((name) => [name, worse(verified.map((one) => one!.get(name)!))]));
  // Each of these runs had its own process.
  for (const name of [stock, ...names.filter((one) => verdicts.get(one)!.outcome === 'right')]) {
    noteRight(toolchain, module, name);
    if (guards !== null && isBuilt(guards, name)) noteRight(toolchain, guards.module!, name);
  }
  return verdicts;
}

/** @param comparisons at each combination of sizes; undefined when the program failed */
function verificationOfAll(comparisons: readonly Comparison[] | undefined): Verification {
  if (comparisons === undefined) return { outcome: 'run-error', reason: 'the program failed' };
  const reason = comparisons.map((one) => one.reason).find((one) => one !== null);
  if (reason !== undefined) return { outcome: 'wrong-result', reason };
  return { outcome: 'right', maxError: Math.max(...comparisons.map(({ maxError }) => maxError)) };
}

/** The first failure; without one, the largest error. */
function worse(some: readonly Verification[]): Verification {
  const right = some.flatMap((one) => (one.outcome === 'right' ? [one.maxError] : []));
  return (
    some.find(({ outcome }) => outcome !== 'right') ?? { outcome: 'right', maxError: Math.max(...right) }
  );
}
