// Two sets of configurations of one program, each against stock: which is better.
import { geometricMean } from '../measure/statistics.ts';
import { judge, type Judgement } from './judge.ts';
import type { ProgramsRun } from './runs.ts';
import type { ComparedWorkload } from './slower.ts';
import type { FunctionVerdict } from './verdict.ts';

/** What became of a program with some configurations. */
export interface Assessed {
  readonly judgement: Judgement;
  /** Of the program with those that are kept; empty where none is. */
  readonly functions: readonly FunctionVerdict[];
  /** Of the same program, what its dispatches were seen to take. */
  readonly workloads: readonly ComparedWorkload[];
  /** Of the same program, what each of its dispatches takes, by name. */
  readonly dispatchSeconds: ReadonlyMap<string, number>;
}

/**
 * @param keys of all workloads that have a configuration in it; may be none
 * @param suspects as for `judge`
 */
export async function assess(
  keys: readonly string[],
  runs: ProgramsRun,
  suspects: readonly string[] = [],
): Promise<Assessed> {
  const nothing: Judgement = { kept: [], leftOut: [], open: null };
  const judgement = keys.length === 0 ? nothing : await judge(keys, runs, suspects);
  const { kept } = judgement;
  if (kept.length === 0) return { judgement, functions: [], workloads: [], dispatchSeconds: new Map() };
  const known = { functions: runs.verdictsOf(kept), workloads: runs.comparedIn(kept) };
  return { judgement, ...known, dispatchSeconds: runs.secondsIn(kept) };
}

/** Two programs that are both compared with stock differ by less from run to run. */
export const LEAST_ADVANTAGE = 1.03;

/** Stock's time over the program's, the geometric mean over its functions; 1 without any. */
export const ratioOf = ({ functions }: Assessed): number =>
  functions.length === 0 ? 1 : geometricMean(functions.map(({ timing }) => timing?.ratio ?? 1));

/** How many times faster than stock a program is that is right, and faster than another one; null where it is not. */
export function gainBeside(program: Assessed, other: Assessed): number | null {
  if (program.judgement.open !== null || program.functions.length === 0) return null;
  const timings = program.functions.map(({ timing }) => timing);
  if (!timings.every((timing) => timing !== null && timing.low > 1)) return null;
  const ratio = ratioOf(program);
  return ratio > LEAST_ADVANTAGE * ratioOf(other) ? ratio : null;
}

/**
 * What is to become of a program that is better with what was offered to its operations: what was run is what ships. So what
 * nothing was offered to is in it or is not, whatever was found without the offer, and no configuration is to blame for another one
 * that took its place.
 * @param offered keys of the workloads that something was offered to
 * @param wide of the program with what was offered
 * @param own of the program with what its operations had
 */
export function judgementWith(
  offered: { has(key: string): boolean },
  wide: Judgement,
  own: Judgement,
): Judgement {
  const replaced = own.leftOut.filter(({ key }) => offered.has(key) && wide.kept.includes(key));
  const without = wide.leftOut.map((one) => (offered.has(one.key) ? { ...one, mark: null } : one));
  return { ...wide, leftOut: [...replaced, ...without] };
}
