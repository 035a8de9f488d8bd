// Tunes the forms and whole dispatches of programs before any workload is tuned alone. Runs each program at the end.
import type { ProgramVerdict } from '../program/verdict.ts';
import { KeptModules } from '../plan/kept-modules.ts';
import { mayRun } from '../running/limits.ts';
import { concludeProgram, openProgram, tuneDispatches } from './tune-ahead.ts';
import type { OpenProgram } from '../wrapper/open-program.ts';
import type { RunMeans } from '../running/program-verdict.ts';
import { needsProgram } from '../workload/workload.ts';
import type { Knowledge } from './ask.ts';
import type { ProgramFile, ProgramToTune } from './request.ts';
import { programAt, type PopulationSite } from './site.ts';
import { because } from '../system/reason.ts';

/** The result for one program. */
export interface PopulatedProgram extends Pick<ProgramToTune, 'source' | 'site'> {
  /** The comparison of its forms; null if it has only one. */
  readonly forms: string | null;
  /** Number of whole dispatches without a record before. */
  readonly dispatches: number;
  /** Number of these with a record now. */
  readonly decided: number;
}

/** Files, targets and database of a run. */
export interface Programs {
  readonly files: readonly ProgramFile[];
  readonly sites: readonly PopulationSite[];
  readonly knowledge: Knowledge;
}

/** Tuning budget of one program, in seconds. */
export const PROGRAM_SECONDS = 60;

/**
 * Tunes programs in order until the budget is spent.
 * @param onBegin called before each program
 */
export async function tunePrograms(
  todo: readonly ProgramToTune[],
  programs: Programs,
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
    const file = programs.files.find((one) => one.source === source)!;
    await withProgram(file, site, programs, seconds, async (open, forms, means) => {
      const { misses } = open.lookup;
      const works = misses.filter(({ workload }) => needsProgram(workload));
      const { results } = await tuneDispatches(open, works, new Set(), means);
      const decided = works.filter(({ key }) => results.has(key)).length;
      done.push({ source, site, forms, dispatches: works.length, decided });
    });
  }
  return done;
}

/** The verdict of a program's last run. */
export interface ConcludedProgram extends Pick<ProgramToTune, 'source' | 'site'> {
  readonly verdict: ProgramVerdict;
}

/**
 * Runs each program with all configurations, at each site, unless the database has the verdict.
 * @param secondsLeft of the budget
 * @param isOnDemand run even if the verdict is known, without a time limit
 */
export async function concludePrograms(
  programs: Programs,
  secondsLeft: number,
  isOnDemand: boolean,
): Promise<ConcludedProgram[]> {
  const found: ConcludedProgram[] = [];
  const seconds = Math.min(PROGRAM_SECONDS, secondsLeft);
  for (const [site, at] of programs.sites.entries()) {
    if (at.site.whyNotHere !== null) continue;
    for (const file of programs.files)
      await withProgram(file, site, programs, seconds, async (open, _, means) => {
        const { verdict } = await concludeProgram(open, because('no-record'), isOnDemand, means);
        if (verdict !== null) found.push({ source: file.source, site, verdict });
      });
  }
  return found;
}

/** @param seconds tuning budget of the program */
async function withProgram(
  { path }: ProgramFile,
  site: number,
  { sites, knowledge: { store, surroundings } }: Programs,
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
