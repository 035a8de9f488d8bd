// Verifies that candidates compute the default's results, with the kernels that are timed: on exact values and on values of all bits
// before the finals, and on a GPU in a process of its own before a candidate is timed.
import { Semaphore } from '../system/semaphore.ts';
import {
  candidatePhase,
  resultTypeOf,
  staticForms,
  workloadBytes,
  type OperationWork,
} from '../workload/workload.ts';
import { isBuilt, type Build } from './build.ts';
import { functionNames } from './candidate-module.ts';
import { loadedWith } from './common-modules.ts';
import type { Values } from '../workload/fillers.ts';
import { areGuardsWhole, guardedBytes, guardedName, resultIn, UNWRITTEN_BYTE } from '../workload/guarded.ts';
import { countdown, type Toolchain } from './toolchain.ts';
import {
  canCompareFull,
  compareOutputs,
  dispatchAllowance,
  exactAllowance,
  fullAllowance,
  outputsOf,
  type Verification,
} from './verify.ts';

/** In bytes. A process can hold its operands twice, so processes with larger operands run one at a time. */
const LARGE_OPERANDS = 2 ** 28;

/** The slot of these processes, for all workloads. */
const oneAtATime = new Semaphore(1);

const WRITES_OUTSIDE: Verification = { outcome: 'wrong-result', reason: 'it writes outside of its result' };
const FAILS: Verification = { outcome: 'run-error', reason: 'the program failed' };
const FAILS_ALONE: Verification = { outcome: 'run-error', reason: 'it failed in a process of its own' };

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
    const verificationsOf = (outputs: readonly Uint8Array[] | null): readonly Verification[] =>
      outputs?.map((output, i) =>
        compareOutputs(references[i]!, output, type, allowanceAt(i), truths?.[i]),
      ) ?? [FAILS];
    const betweenGuards = async (name: string): Promise<readonly Verification[]> => {
      const functions = functionNames(workload, name).map(guardedName);
      const memory = await run(toolchain, guardedModules, functions, timeoutSeconds, (form) => [
        `${guardedBytes(references[form]!.length)}xi8=${UNWRITTEN_BYTE}`,
      ]);
      return memory?.every(areGuardsWhole) === false
        ? [WRITES_OUTSIDE]
        : verificationsOf(memory?.map(resultIn) ?? null);
    };
    // If the default fails between guards, guards prove nothing about candidates.
    const areUsable = isGuarded && (await betweenGuards(stock)).every(isRight);
    const verified = new Map<string, readonly Verification[]>();
    for (const name of names) {
      const isBetween = areUsable && isBuilt(guards!, name);
      verified.set(name, isBetween ? await betweenGuards(name) : verificationsOf(await plain(name)));
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
  return new Map(names.map((name) => [name, worst(verified.flatMap((one) => one!.get(name)!))]));
}

const isRight = (one: Verification): one is Verification & { outcome: 'right' } => one.outcome === 'right';

/** The first failure; without one, the largest error. */
const worst = (some: readonly Verification[]): Verification =>
  some.find((one) => !isRight(one)) ??
  some.reduce((a, b) => (isRight(a) && isRight(b) && a.maxError > b.maxError ? a : b));

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
 * Runs the default alone; null if it fails. On a GPU a kernel that hangs or writes out of bounds fails every kernel of its process, so
 * each candidate runs alone before candidates are timed together.
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
 * @returns a verification for each candidate, except for those without time left
 * @throws StoppedError when the toolchain's signal fires
 */
export async function checkedAlone(
  toolchain: Toolchain,
  workload: OperationWork,
  modules: readonly string[],
  names: readonly string[],
  reference: Reference,
  limitSeconds = Infinity,
): Promise<ReadonlyMap<string, Verification>> {
  const secondsLeft = countdown(limitSeconds);
  const type = resultTypeOf(workload);
  const longest = LEAST_SECONDS + MOST_TIMES_SLOWER * reference.seconds;
  const checked = new Map<string, Verification>();
  for (const name of names) {
    const left = secondsLeft();
    if (left <= 0) break;
    const functions = functionNames(workload, name);
    const outputs = await outputsOf(toolchain, modules, functions, Math.min(longest, left));
    // A short time limit does not prove that the candidate is wrong.
    if (outputs === null && left < longest && secondsLeft() <= 0) break;
    const verified = outputs?.map((output, i) =>
      compareOutputs(reference.outputs[i]!, output, type, exactAllowance(type)),
    ) ?? [FAILS_ALONE];
    checked.set(name, worst(verified));
  }
  return checked;
}
