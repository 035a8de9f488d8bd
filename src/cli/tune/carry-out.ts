// Carries a plan out, and shows the progress.
import { describeDone, describeStart } from '../../populate/describe.ts';
import { secondsOfSearch, type Plan } from '../../populate/plan.ts';
import { populate, type Executor, type Populated } from '../../populate/populate.ts';
import { lineDisplay } from '../../report/progress.ts';
import type { TuningProgress } from '../../tuning/search-job.ts';
import { sumOf } from '../../measure/statistics.ts';
import { formatDuration } from '../../system/format.ts';
import { STOPPING, withInterrupts } from '../interrupt.ts';

/** The first Ctrl-C ends the search and decides by its trials; the second ends the process. Trials are kept. */
export async function carryOut(
  plan: Plan,
  budgetSeconds: number | undefined,
  atOnce: number,
  executorFor: (show: (what: string, progress?: TuningProgress) => void) => Executor,
): Promise<Populated[]> {
  const clock = () => performance.now() / 1000;
  const begun = clock();
  const total = plan.todo.length;
  let done = 0;
  let measured = 0;
  const trials = new Map<string, number>();
  const secondsLeft = () => {
    const seconds = clock() - begun;
    const each = secondsOfSearch(plan, { measured, trials: sumOf([...trials.values()]), seconds });
    return Math.max(0, Math.min((budgetSeconds ?? Infinity) - seconds, each * (total - done)));
  };
  const display = lineDisplay();
  const say = (text: string) => {
    display.clear();
    process.stderr.write(`iree-tuned: ${text}\n`);
  };
  if (total > 0) say(describeStart(plan, budgetSeconds));
  const executor = executorFor((what, progress) => {
    if (progress !== undefined) trials.set(progress.workload, progress.trials);
    display.show(
      `iree-tuned: ${done + 1} of ${total}, about ${formatDuration(Math.ceil(secondsLeft()))} left; ${what}`,
    );
  });
  return withInterrupts(({ finishEarly, abort }) => {
    finishEarly.addEventListener('abort', () => {
      say(STOPPING);
    });
    return populate(plan, executor, {
      ...{ budgetSeconds, atOnce, finishEarly, signal: abort, clock },
      onDone: (one) => {
        done++;
        if (!one.wasKnown) measured++;
        if (!finishEarly.aborted || one.result !== null) say(describeDone(one, done, total, secondsLeft()));
      },
    });
  }).finally(display.clear);
}
