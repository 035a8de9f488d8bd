// Times a model: the contestants run in separate processes, in turns.
import { timeModule, type ModuleRun } from '../../src/measure/compare-modules.ts';
import type { Contest } from '../../src/program/verify.ts';
import { namedTimes, type DispatchTime } from '../shared/dispatch-time.ts';
import { effortFor, inRounds, type Effort, type Extent } from './effort.ts';

/** Undisturbed seconds of one call of a contestant, in a process of its own. */
export type Timer = (effort: Effort) => Promise<number>;

/** Time limit of a process. */
const TIMEOUT_SECONDS = 600;

export const moduleTimer =
  (run: ModuleRun, module: string): Timer =>
  async (effort) =>
    (await timeModule(run, module, { ...effort, timeoutSeconds: TIMEOUT_SECONDS })).seconds;

/**
 * Seconds of one call of each contestant, in each round.
 * @param timers the first contestant also runs ahead of the rounds. That run sets the number of repetitions, and brings files into memory
 */
export async function timeAll<Contestant>(
  timers: ReadonlyMap<Contestant, Timer>,
  extent: Extent,
): Promise<ReadonlyMap<Contestant, number>[]> {
  const [first] = timers.values();
  const effort = effortFor(await first!(effortFor(Infinity)));
  return inRounds([...timers.keys()], extent, (one) => timers.get(one)!(effort));
}

/** Paths of the modules; `tuned` is null for the same code. */
interface Programs {
  readonly stock: string;
  readonly tuned: string | null;
}

/** Times of both programs' dispatches; null for runtimes before 3.13, which have no statistics. */
export async function timeAllDispatches(
  contest: Contest,
  { stock, tuned }: Programs,
): Promise<Readonly<Record<'stock' | 'tuned', readonly DispatchTime[]>> | null> {
  const effort = { repetitions: 1, minSeconds: 0.3, timeoutSeconds: TIMEOUT_SECONDS };
  const timesOf = async (module: string) =>
    namedTimes((await timeModule(contest, module, effort, true)).dispatches);
  try {
    const ofStock = await timesOf(stock);
    return { stock: ofStock, tuned: tuned === null ? ofStock : await timesOf(tuned) };
  } catch {
    return null;
  }
}
