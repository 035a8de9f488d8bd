// Tunes a program before its build: its forms and its whole dispatches, which exist only in the program. Then runs the program with
// all configurations.
import { subjectOf } from '../store/subject.ts';
import { recordOf } from '../tuning/earlier.ts';
import type { Work } from '../tuning/tune-workloads.ts';
import { needsProgram } from '../workload/workload.ts';
import { verifiedDecisions } from '../wrapper/verified-decisions.ts';
import { planCompile } from '../plan/route.ts';
import { OpenProgram } from '../wrapper/open-program.ts';
import type { FormedProgram } from '../plan/inspected.ts';
import { verifyOnDemand, type RunMeans } from '../running/program-verdict.ts';
import { NOTHING_TUNED, tuneProgram, type Tuned } from '../running/tune-program.ts';
import { because, type Reason } from '../system/reason.ts';

/** Opens a program. Measures its forms, unless the database has the result or is read-only. */
export const openProgram = (written: FormedProgram, { store, surroundings, kept }: RunMeans) =>
  OpenProgram.inBetterForms(written, { store, surroundings }, surroundings.settings.readonly ? null : kept);

/**
 * Tunes the whole dispatches among some workloads.
 * @param works of the program
 * @param again keys of workloads to tune even if they have a record
 */
export async function tuneDispatches(
  program: OpenProgram,
  works: readonly Work[],
  again: ReadonlySet<string>,
  { store, surroundings, kept }: RunMeans,
): Promise<Tuned> {
  const { site, input } = program.inspected;
  const own = works.flatMap((work): Work[] => {
    if (!needsProgram(work.workload)) return [];
    const known = again.has(work.key) ? recordOf(store, subjectOf(work, site)) : null;
    return [{ ...work, ...(known && { goesOnFrom: known }) }];
  });
  if (own.length === 0) return NOTHING_TUNED;
  return tuneProgram(own, program.with(program.lookup.decide(new Map())), {
    ...{ surroundings, kept, store, began: Date.now(), patienceSeconds: undefined },
    budgetSeconds: surroundings.settings.budgetSeconds - input.waitedSeconds,
  });
}

/**
 * Runs the program with all configurations that the database has now. Returns the decisions of the next build and the verdict of the
 * run, null without a run.
 * @param whyNot the reason for workloads without a record
 * @param isOnDemand run even if the database has the verdict, without a time limit
 */
export async function concludeProgram(
  before: OpenProgram,
  whyNot: Reason,
  isOnDemand: boolean,
  means: RunMeans,
) {
  const { surroundings } = means;
  const program = before.again();
  const run = () => {
    const known = program.with(program.decide(new Map(), whyNot));
    const plan = planCompile(program, known.decisions, surroundings);
    const why = surroundings.settings.readonly ? because('read-only', 'the database is read-only') : null;
    return verifiedDecisions(known, plan, why, means);
  };
  const verdict = isOnDemand
    ? await verifyOnDemand(program.with(program.lookup.decide(new Map(), whyNot)), means.store, surroundings)
    : (await run()).verdict;
  return { decisions: program.again().decide(new Map(), whyNot), verdict };
}
