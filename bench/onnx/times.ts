// Times a model: the contestants run in separate processes, in turns.
import { timeModule } from '../../src/measure/compare-modules.ts';
import type { Contest } from '../../src/program/verify.ts';
import { namedTimes, type DispatchTime } from '../shared/dispatch-time.ts';
import { effortFor, inRounds, type Effort, type Extent } from './effort.ts';
import type { Peer } from './peer.ts';
import type { Prepared } from './prepared.ts';

export type Contestant = 'onnxRuntime' | 'stock' | 'tuned';

/** Paths of the modules; `tuned` is null for the same code. */
export interface Programs {
  readonly stock: string;
  readonly tuned: string | null;
}

/** Time limit of a process. */
const TIMEOUT_SECONDS = 600;

/** Undisturbed seconds of one call, in each round. The same code is timed once. */
export async function timeAll(
  model: Prepared,
  contest: Contest,
  { stock, tuned }: Programs,
  extent: Extent,
  peer: Peer,
): Promise<Readonly<Record<Contestant, number>>[]> {
  const modules = new Map<Contestant, string>([['stock', stock]]);
  if (tuned !== null) modules.set('tuned', tuned);
  // This run sets the number of repetitions, and brings the files into memory.
  const secondsOf = async (module: string, effort: Effort) =>
    (await timeModule(contest, module, { ...effort, timeoutSeconds: TIMEOUT_SECONDS })).seconds;
  const first = await secondsOf(stock, effortFor(Infinity));
  const effort = effortFor(first);
  const contestants: Contestant[] = ['onnxRuntime', ...modules.keys()];
  const rounds = await inRounds(contestants, extent, (one) => {
    const module = modules.get(one);
    return module === undefined ? peer.time(model, effort) : secondsOf(module, effort);
  });
  return rounds.map((times) => ({
    onnxRuntime: times.get('onnxRuntime')!,
    stock: times.get('stock')!,
    tuned: times.get('tuned') ?? times.get('stock')!,
  }));
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
