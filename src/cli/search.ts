// A search that a user has asked for: with a line of progress, and Ctrl-C to end it.
import type { Command } from '../compiler/command.ts';
import { findMeasuringTools } from '../compiler/find.ts';
import { storyOf } from '../report/story.ts';
import type { StrategyFactory } from '../search/strategy.ts';
import type { Surroundings } from '../settings/surroundings.ts';
import type { Store } from '../store/store.ts';
import { tuneWorkloads, type TuneOutcome, type Work } from '../tuning/tune-workloads.ts';
import { DEFAULT_EFFORT, type Effort } from '../tuning/search-job.ts';
import type { Site } from '../site/site.ts';
import { UsageError } from './context.ts';

/**
 * How many configurations to try.
 * @throws UsageError
 */
export function trialCount(text: string): number {
  const trials = Number(text);
  if (!Number.isSafeInteger(trials) || trials < 1)
    throw new UsageError(`--trials ${text}: it takes a whole number from 1 up`);
  return trials;
}

/** What is searched for: a site, the command whose compiler's tools measure, and what was waited until now. */
export interface Measured {
  readonly command: Pick<Command, 'compiler' | 'expanded'>;
  readonly site: Site;
  readonly waitedSeconds: number;
}

/**
 * Searches within the budget. The first Ctrl-C ends the search and decides with what is known; the second ends everything.
 * Trials are kept.
 * @param again keys that are searched even where there is a record
 */
export async function search(
  works: readonly Work[],
  store: Store,
  { command, site, waitedSeconds }: Measured,
  surroundings: Surroundings,
  {
    strategy,
    effort,
    again,
  }: { strategy: StrategyFactory; effort: Partial<Effort>; again: ReadonlySet<string> },
): Promise<TuneOutcome> {
  const [finishEarly, abort] = [new AbortController(), new AbortController()];
  const interrupt = () => {
    (finishEarly.signal.aborted ? abort : finishEarly).abort();
  };
  process.on('SIGINT', interrupt);
  // Who types such a command knows what it does.
  const story = storyOf(null);
  const { env, root, cacheDirectory, settings } = surroundings;
  const tools = findMeasuringTools(command.compiler, env, { root, cacheDirectory });
  const seconds = settings.budgetSeconds - waitedSeconds;
  if (works.length > 0) story.begin(works.length, seconds);
  try {
    return await tuneWorkloads(works, store, site, tools, surroundings, {
      givenSeconds: settings.budgetSeconds,
      budgetSeconds: seconds,
      signal: abort.signal,
      finishEarly: finishEarly.signal,
      strategy,
      effort: { ...DEFAULT_EFFORT, ...effort },
      again,
      onProgress: (progress) => {
        story.progress(progress);
      },
    });
  } finally {
    story.clear();
    process.off('SIGINT', interrupt);
  }
}
