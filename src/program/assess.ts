// Compares two sets of configurations of one program by their gains over stock.
import { geometricMean } from '../measure/statistics.ts';
import { judge, type Judgement } from './judge.ts';
import { NOT_MEASURED, type Measured, type ProgramsRun } from './runs.ts';

/** A judgement, and measurements of the program with the kept configurations; empty if none is kept. */
export interface Assessed extends Measured {
  readonly judgement: Judgement;
}

/**
 * @param keys of all workloads with a configuration; may be empty
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
  return { judgement, ...(kept.length === 0 ? NOT_MEASURED : runs.measured(kept)) };
}

/** Two programs that were each compared with stock differ by less than this from run to run. */
export const LEAST_ADVANTAGE = 1.03;

/** Stock's time over the program's: the geometric mean over all functions; 1 without functions. */
export const ratioOf = ({ functions }: Assessed): number =>
  functions.length === 0 ? 1 : geometricMean(functions.map(({ timing }) => timing?.ratio ?? 1));

/** The program's speed-up over stock; null unless the results are known to be correct, and each function is certainly faster. */
export function certainGain(program: Assessed): number | null {
  const { judgement, functions } = program;
  const isFaster = functions.length > 0 && functions.every(({ timing }) => timing !== null && timing.low > 1);
  return judgement.open === null && isFaster ? ratioOf(program) : null;
}

/** The certain speed-up over stock of a program that is faster than `other`; null for none. */
export function gainOver(program: Assessed, other: Assessed): number | null {
  const gain = certainGain(program);
  return gain !== null && gain > LEAST_ADVANTAGE * ratioOf(other) ? gain : null;
}

/**
 * The judgement of a variant that is faster: exactly the measured program ships. So other workloads are kept or left out as they were in the
 * variant. A workload's own configuration gets no mark for a loss of the variant's.
 * @param changed keys of the workloads whose configuration the variant changes
 * @param varied of the variant
 * @param own of the program with each operation's own configuration
 */
export function judgementWith(
  changed: { has(key: string): boolean },
  varied: Judgement,
  own: Judgement,
): Judgement {
  const replaced = own.leftOut.filter(({ key }) => changed.has(key) && varied.kept.includes(key));
  const without = varied.leftOut.map((one) => (changed.has(one.key) ? { ...one, mark: null } : one));
  return { ...varied, leftOut: [...replaced, ...without] };
}
