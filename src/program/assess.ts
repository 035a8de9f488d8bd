// Two sets of configurations of one program, each against stock: which is better.
import { geometricMean } from '../measure/statistics.ts';
import { judge, type Judgement } from './judge.ts';
import type { programRuns } from './runs.ts';
import type { FunctionVerdict } from './verdict.ts';

/** What became of a program with some configurations. */
export interface Assessed {
  readonly judgement: Judgement;
  /** Of the program with those that are kept; empty where none is. */
  readonly functions: readonly FunctionVerdict[];
}

/** @param keys of all workloads that have a configuration in it; may be none */
export async function assess(
  keys: readonly string[],
  runs: ReturnType<typeof programRuns>,
): Promise<Assessed> {
  const nothing: Judgement = { kept: [], leftOut: [], open: null };
  const judgement = keys.length === 0 ? nothing : await judge(keys, runs);
  return { judgement, functions: judgement.kept.length === 0 ? [] : runs.verdictsOf(judgement.kept) };
}

/** Two programs that are both compared with stock differ by less from run to run. */
const LEAST_ADVANTAGE = 1.03;

/** How many times faster than stock a program is that is right, and faster than another one; null where it is not. */
export function gainBeside(program: Assessed, other: Assessed): number | null {
  if (program.judgement.open !== null || program.functions.length === 0) return null;
  const timings = program.functions.map(({ timing }) => timing);
  if (!timings.every((timing) => timing !== null && timing.low > 1)) return null;
  const ratioOf = ({ functions }: Assessed) =>
    functions.length === 0 ? 1 : geometricMean(functions.map(({ timing }) => timing?.ratio ?? 1));
  const ratio = ratioOf(program);
  return ratio > LEAST_ADVANTAGE * ratioOf(other) ? ratio : null;
}
