// A plan of `iree-tuned populate` carried out, with what a terminal is told meanwhile.
import { describeDone, describeStart } from '../populate/describe.ts';
import type { Plan } from '../populate/plan.ts';
import { populate, type Executor, type Populated } from '../populate/populate.ts';
import { lineDisplay } from '../report/progress.ts';
import { formatDuration } from '../system/format.ts';

/** Carries a plan out, tells how far it is, and ends when it is told to. */
export async function carryOut(
  plan: Plan,
  budgetSeconds: number | undefined,
  atOnce: number,
  executorFor: (show: (what: string) => void) => Executor,
): Promise<Populated[]> {
  const clock = () => performance.now() / 1000;
  const begun = clock();
  const total = plan.todo.length;
  let done = 0;
  let measured = 0;
  const secondsLeft = () => {
    // As long as little was measured, what was measured before says more.
    const each = measured < 3 ? plan.secondsEach : (clock() - begun) / measured;
    const budgetLeft = (budgetSeconds ?? Infinity) - (clock() - begun);
    return Math.max(0, Math.min(budgetLeft, each * (total - done)));
  };
  const display = lineDisplay();
  const say = (text: string) => {
    display.clear();
    process.stderr.write(`iree-tuned: ${text}\n`);
  };
  // The first Ctrl-C ends the search and decides with what is known; the second ends everything. Trials are kept.
  const [finishEarly, abort] = [new AbortController(), new AbortController()];
  const interrupt = () => {
    if (!finishEarly.signal.aborted)
      say('ending: what is measured is decided, nothing more is begun; once more ends at once');
    (finishEarly.signal.aborted ? abort : finishEarly).abort();
  };
  process.on('SIGINT', interrupt);
  if (total > 0) say(describeStart(plan, budgetSeconds));
  const executor = executorFor((what) => {
    display.show(
      `iree-tuned: ${done + 1} of ${total}, about ${formatDuration(Math.ceil(secondsLeft()))} left; ${what}`,
    );
  });
  try {
    return await populate(plan, executor, {
      ...{ budgetSeconds, atOnce, finishEarly: finishEarly.signal, signal: abort.signal, clock },
      onDone: (one) => {
        done++;
        if (!one.wasKnown) measured++;
        if (!finishEarly.signal.aborted || one.result !== null)
          say(describeDone(one, done, total, secondsLeft()));
      },
    });
  } finally {
    display.clear();
    process.off('SIGINT', interrupt);
  }
}
