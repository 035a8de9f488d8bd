// Times the dispatches of a model.
import { timeModule } from '../../src/measure/compare-modules.ts';
import type { Contest } from '../../src/program/verify.ts';
import { namedTimes, type DispatchTime } from '../shared/dispatch-time.ts';

/** Time limit of a process. */
const TIMEOUT_SECONDS = 600;

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
