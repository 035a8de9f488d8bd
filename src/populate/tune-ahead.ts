// Tunes a program before its build: its forms and its whole dispatches, which exist only in the program. Then runs the program with
// all configurations.
import { lookUp } from '../decision/look-up.ts';
import { subjectOf } from '../store/subject.ts';
import { recordOf } from '../tuning/earlier.ts';
import type { Work } from '../tuning/tune-workloads.ts';
import { isOperationWork } from '../workload/workload.ts';
import { verifiedDecisions } from '../wrapper/verified-decisions.ts';
import { planCompile } from '../plan/route.ts';
import { inBetterForms } from '../wrapper/program-forms.ts';
import type { FormedProgram } from '../plan/rewritten.ts';
import { programMemory, inProgram } from '../running/program-memory.ts';
import { verifyOnDemand, type RunMeans } from '../running/program-verdict.ts';
import { programOf } from '../running/program-notes.ts';
import { NOTHING_TUNED, tuneProgram, type Tuned } from '../running/tune-program.ts';
import { because, type Reason } from '../system/reason.ts';

/** A program in its best known forms, and the database's answer for its workloads. `forms` is null for a program without other forms. */
export type OpenProgram = Awaited<ReturnType<typeof openProgram>>;

/** Opens a program. Measures its forms, unless the database has the result or is read-only. */
export async function openProgram(written: FormedProgram, { store, surroundings, kept }: RunMeans) {
  const { settings } = surroundings;
  const measured = settings.readonly ? null : kept;
  const { program, forms } = await inBetterForms(written, store, surroundings, measured);
  const { command, inspected } = program;
  const { input, site } = inspected;
  const lookup = lookUp(store, input, site, settings);
  const identity = await programOf(command, inspected, surroundings);
  return { ...program, forms, identity, lookup };
}

/**
 * Tunes the whole dispatches among some workloads.
 * @param works of the program
 * @param again keys of workloads to tune even if they have a record
 */
export async function tuneDispatches(
  { command, inspected, identity, lookup }: OpenProgram,
  works: readonly Work[],
  again: ReadonlySet<string>,
  { store, surroundings, kept }: RunMeans,
): Promise<Tuned> {
  const own = works.flatMap((work): Work[] => {
    if (isOperationWork(work.workload)) return [];
    const known = again.has(work.key) ? recordOf(store, subjectOf(work, inspected.site)) : null;
    return [{ ...work, ...(known && { goesOnFrom: known }) }];
  });
  if (own.length === 0) return NOTHING_TUNED;
  const memory = programMemory.recall(store, identity);
  const current = { command, inspected, decisions: lookup.decide(new Map()), memory };
  return tuneProgram(own, current, {
    ...{ surroundings, kept, store, began: Date.now(), patienceSeconds: undefined },
    budgetSeconds: surroundings.settings.budgetSeconds - inspected.input.waitedSeconds,
  });
}

/**
 * Runs the program with all configurations that the database has now. Returns the decisions of the next build and the verdict of the
 * run, null without a run.
 * @param whyNot the reason for workloads without a record
 * @param isOnDemand run even if the database has the verdict, without a time limit
 */
export async function concludeProgram(
  { command, inspected, identity }: OpenProgram,
  whyNot: Reason,
  isOnDemand: boolean,
  means: RunMeans,
) {
  const { store, surroundings } = means;
  const { settings } = surroundings;
  const lookup = lookUp(store, inspected.input, inspected.site, settings);
  const found = lookup.decide(new Map(), whyNot);
  const ours = { command, inspected, identity };
  const now = () => {
    const memory = programMemory.recall(store, identity);
    return { ...ours, memory, decisions: inProgram(found, memory, lookup.marked, settings.inject) };
  };
  const run = () => {
    const program = now();
    const injection = planCompile(program.decisions, inspected, command, surroundings);
    const why = settings.readonly ? because('read-only', 'the database is read-only') : null;
    return verifiedDecisions(program, injection, why, means);
  };
  const verdict = isOnDemand
    ? await verifyOnDemand({ ...ours, decisions: found }, store, surroundings)
    : (await run()).verdict;
  return { decisions: now().decisions, verdict };
}
