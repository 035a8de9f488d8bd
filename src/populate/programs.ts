// Tunes programs before their builds: forms and whole dispatches, which exist only in the program, then a run with all configurations.
import { KeptModules } from '../plan/kept-modules.ts';
import type { FormedProgram } from '../plan/inspected.ts';
import { planCompile } from '../plan/route.ts';
import type { ProgramVerdict } from '../program/verdict.ts';
import { mayRun } from '../running/limits.ts';
import { type RunMeans, verifyOnDemand } from '../running/program-verdict.ts';
import { NOTHING_TUNED, type Tuned, tuneProgram } from '../running/tune-program.ts';
import { subjectOf } from '../store/subject.ts';
import { because, type Reason } from '../system/reason.ts';
import { recordOf } from '../tuning/earlier.ts';
import type { Work } from '../tuning/tune-workloads.ts';
import { needsProgram } from '../workload/workload.ts';
import { OpenProgram } from '../wrapper/open-program.ts';
import { verifiedDecisions } from '../running/verified-decisions.ts';
import type { ProgramFile, ProgramToTune, Run } from './request.ts';
import { programAt } from './site.ts';

export interface PopulatedProgram extends Pick<ProgramToTune, 'source' | 'site'> {
  /** The comparison of its forms; null if it has only one. */
  readonly forms: string | null;
  /** Number of whole dispatches without a record before. */
  readonly dispatches: number;
  /** Number of these with a record now. */
  readonly decided: number;
}

/** Tuning budget of one program, in seconds. */
export const PROGRAM_SECONDS = 60;

/** Tunes programs in order until the budget is spent. */
export async function tunePrograms(
  todo: readonly ProgramToTune[],
  run: Run,
  budgetSeconds: number,
  onBegin: (program: ProgramToTune, number: number) => void,
): Promise<PopulatedProgram[]> {
  const end = performance.now() + 1000 * budgetSeconds;
  const done: PopulatedProgram[] = [];
  for (const [i, program] of todo.entries()) {
    const seconds = Math.min(PROGRAM_SECONDS, (end - performance.now()) / 1000);
    if (!mayRun(seconds)) break;
    onBegin(program, i + 1);
    const { source, site } = program;
    await withProgram(program, site, run, seconds, async (open, forms, means) => {
      const { misses } = open.lookup;
      const works = misses.filter(({ workload }) => needsProgram(workload));
      const { results } = await tuneDispatches(open, works, new Set(), means);
      const decided = works.filter(({ key }) => results.has(key)).length;
      done.push({ source, site, forms, dispatches: works.length, decided });
    });
  }
  return done;
}

export interface ConcludedProgram extends Pick<ProgramToTune, 'source' | 'site'> {
  readonly verdict: ProgramVerdict;
}

/**
 * Runs each program with all configurations, at each site, unless the database has the verdict.
 * @param secondsLeft of the budget
 * @param isOnDemand run even if the verdict is known, without a time limit
 */
export async function concludePrograms(
  run: Run,
  secondsLeft: number,
  isOnDemand: boolean,
): Promise<ConcludedProgram[]> {
  const found: ConcludedProgram[] = [];
  const seconds = Math.min(PROGRAM_SECONDS, secondsLeft);
  for (const [site, at] of run.sites.entries()) {
    if (at.site.whyNotHere !== null) continue;
    for (const file of run.request.programs)
      await withProgram(file, site, run, seconds, async (open, _, means) => {
        const { verdict } = await concludeProgram(open, because('no-record'), isOnDemand, means);
        if (verdict !== null) found.push({ source: file.source, site, verdict });
      });
  }
  return found;
}

async function withProgram(
  { path }: ProgramFile,
  site: number,
  { sites, knowledge: { store, surroundings } }: Run,
  seconds: number,
  use: (open: OpenProgram, forms: string | null, means: RunMeans) => Promise<void>,
): Promise<void> {
  const settings = { ...surroundings.settings, budgetSeconds: seconds };
  const means = { store, surroundings: { ...surroundings, settings }, kept: new KeptModules() };
  const written = await programAt(path, sites[site]!.flags, surroundings);
  if (typeof written === 'string') return;
  try {
    const { open, better } = await openProgram(written, means);
    await use(open, better.forms?.reason ?? null, means);
  } finally {
    means.kept.discard();
  }
}

/** Opens a program. Measures its forms, unless the database has the result or is read-only. */
export const openProgram = (written: FormedProgram, { store, surroundings, kept }: RunMeans) =>
  OpenProgram.inBetterForms(written, { store, surroundings }, surroundings.settings.readonly ? null : kept);

/** Tunes the whole dispatches among workloads of a program. @param again keys to tune even if they have a record */
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
