// The search of a command: it shows its progress, and Ctrl-C ends it.
import type { Command } from '../compiler/command.ts';
import { findMeasuringTools } from '../compiler/find.ts';
import { terminalOf } from '../report/terminal.ts';
import { STRATEGIES } from '../search/index.ts';
import type { Surroundings } from '../settings/surroundings.ts';
import type { Store } from '../store/store.ts';
import { tuneWorkloads, type TuneOutcome, type Work } from '../tuning/tune-workloads.ts';
import { DEFAULT_EFFORT } from '../tuning/search-job.ts';
import type { Site } from '../site/site.ts';
import { STOPPING, withInterrupts } from './interrupt.ts';
import { warn } from './output.ts';

/** A site, the command whose tools measure, and the seconds that were spent before. */
export interface Measured {
  readonly command: Pick<Command, 'compiler' | 'expanded'>;
  readonly site: Site;
  readonly waitedSeconds: number;
}

/** A strategy by its name, and limits of `Effort` that differ from the defaults. */
interface SearchLimits {
  readonly strategy: string;
  readonly trials?: number | undefined;
  readonly patience?: number;
}

/**
 * Searches within the budget, and keeps all trials. The first Ctrl-C ends the search and decides by its trials; the second ends
 * the process.
 * @param again keys to search even if they have a record
 */
export async function search(
  works: readonly Work[],
  store: Store,
  { command, site, waitedSeconds }: Measured,
  surroundings: Surroundings,
  { strategy, trials = DEFAULT_EFFORT.maxTrials, patience = DEFAULT_EFFORT.patience }: SearchLimits,
  again: ReadonlySet<string>,
): Promise<TuneOutcome> {
  // Without the introduction: the user has asked for the search.
  const terminal = terminalOf(null);
  const { env, settings } = surroundings;
  const tools = findMeasuringTools(command.compiler, env, surroundings);
  const seconds = settings.budgetSeconds - waitedSeconds;
  if (works.length > 0) terminal.begin(works.length, seconds);
  try {
    return await withInterrupts(({ finishEarly, abort }) => {
      finishEarly.addEventListener('abort', () => {
        terminal.clear();
        warn(STOPPING);
      });
      return tuneWorkloads(works, store, site, tools, surroundings, {
        ...{
          givenSeconds: settings.budgetSeconds,
          budgetSeconds: seconds,
          signal: abort,
          finishEarly,
          again,
        },
        strategy: STRATEGIES[strategy]!,
        effort: { ...DEFAULT_EFFORT, maxTrials: trials, patience },
        onProgress: (progress) => {
          if (!finishEarly.aborted) terminal.progress(progress);
        },
      });
    });
  } finally {
    terminal.clear();
  }
}
