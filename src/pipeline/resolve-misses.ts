// What becomes of the misses of one compile: tuned, noted, or left to the default with a reason.
import type { TuningRecord, Store } from '../store/store.ts';
import { messageOf, tell } from '../report/tell.ts';
import { subjectOf, type Lookup } from './decide.ts';
import type { Command, Subjects, Surroundings } from './inspect.ts';

export interface Resolved {
  readonly tuned: ReadonlyMap<string, Pick<TuningRecord, 'configuration' | 'evidence'>>;
  /** Why the misses that were not tuned were not. */
  readonly whyNot: string;
  /** Spent on tuning. */
  readonly seconds: number;
}

/**
 * Tunes the misses of a lookup, where that is wanted and possible. A signal that asks for an end ends this process by
 * that signal, when everything that was measured is kept.
 */
export async function resolveMisses(
  { misses }: Lookup,
  store: Store | null,
  subjects: Subjects,
  command: Command,
  surroundings: Surroundings,
): Promise<Resolved> {
  const { settings } = surroundings;
  if (misses.length === 0) return { tuned: new Map(), whyNot: '', seconds: 0 };
  const whyNot = whyUntuned(store, subjects, surroundings);
  if (whyNot !== null || store === null) {
    if (settings.onMiss === 'record' && store !== null && !settings.readonly)
      for (const miss of misses) store.noteMiss(subjectOf(miss, subjects));
    return { tuned: new Map(), whyNot: whyNot ?? '', seconds: 0 };
  }

  const begun = performance.now();
  // Nothing of this is loaded on a hit.
  const [{ tuneMisses }, { progressDisplay }, { exitLike }] = await Promise.all([
    import('../tuner/tune-misses.ts'),
    import('../report/progress.ts'),
    import('../compiler/run.ts'),
  ]);
  const interrupted = new AbortController();
  const ending: { signal: NodeJS.Signals | null } = { signal: null };
  const interrupt = (signal: NodeJS.Signals) => {
    ending.signal = signal;
    interrupted.abort();
  };
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  for (const name of signals) process.on(name, interrupt);
  const display = progressDisplay();
  try {
    const { results, whyNot: untuned } = await tuneMisses(misses, store, command, subjects, surroundings, {
      budgetSeconds: settings.budgetSeconds,
      signal: interrupted.signal,
      onProgress: (progress) => {
        display.show(progress);
      },
    });
    const { signal } = ending;
    if (signal !== null) {
      display.clear();
      store.close();
      exitLike({ code: null, signal, forwarded: signal });
    }
    return { tuned: results, whyNot: untuned, seconds: (performance.now() - begun) / 1000 };
  } catch (error) {
    // A full disk, say: what is in the database already is used all the same.
    tell(`tuning failed: ${messageOf(error)}`, settings.log);
    const whyNot = `tuning failed: ${messageOf(error)}`;
    return { tuned: new Map(), whyNot, seconds: (performance.now() - begun) / 1000 };
  } finally {
    display.clear();
    for (const name of signals) process.off(name, interrupt);
  }
}

function whyUntuned(store: Store | null, subjects: Subjects, { settings }: Surroundings): string | null {
  if (subjects.whyNotHere !== null) return subjects.whyNotHere;
  if (settings.onMiss !== 'tune') return `no record, and tuning is off (on-miss=${settings.onMiss})`;
  if (settings.budgetSeconds === 0) return 'no record, and the tuning budget is 0';
  if (settings.readonly) return 'no record, and the database is read-only';
  return store === null ? 'no tuning database' : null;
}
