// What only a program itself can show, for the programs of a run: tuned before everything that is tuned alone, and run once more
// with all that was found.
import type { ProgramVerdict } from '../program/verdict.ts';
import { KeptModules } from '../wrapper/kept-modules.ts';
import {
  concludeProgram,
  openProgram,
  tuneDispatches,
  type Means,
  type OpenProgram,
} from '../wrapper/tune-ahead.ts';
import { isOperationWork } from '../workload/workload.ts';
import type { Knowledge } from './ask.ts';
import type { ProgramFile, ProgramToTune } from './request.ts';
import { programAt, type PopulationSite } from './site.ts';

/** What became of a program. */
export interface PopulatedProgram extends Pick<ProgramToTune, 'source' | 'site'> {
  /** How its forms compare; null where it has no others. */
  readonly forms: string | null;
  /** How many of the dispatches that it alone has were without a record, and how many of them have one now. */
  readonly dispatches: number;
  readonly decided: number;
}

/** In less, nothing is found out about a program, in seconds; what a build may spend on one is enough. */
const LEAST_SECONDS = 15;

/** Where programs are found, and what is known of them. */
export interface Programs {
  readonly files: readonly ProgramFile[];
  readonly sites: readonly PopulationSite[];
  readonly knowledge: Knowledge;
}

export interface ProgramsOptions {
  /** Seconds for all of them. */
  readonly budgetSeconds: number;
  /** What each may take, as a build's budget. */
  readonly secondsEach: number;
  /** Is told before a program is begun. */
  readonly onBegin: (program: ProgramToTune, number: number) => void;
}

/** Tunes programs in their order, as far as the budget goes. */
export async function tunePrograms(
  todo: readonly ProgramToTune[],
  programs: Programs,
  { budgetSeconds, secondsEach, onBegin }: ProgramsOptions,
): Promise<PopulatedProgram[]> {
  const end = performance.now() + 1000 * budgetSeconds;
  const done: PopulatedProgram[] = [];
  for (const [i, program] of todo.entries()) {
    const seconds = Math.min(secondsEach, (end - performance.now()) / 1000);
    if (seconds < LEAST_SECONDS) break;
    onBegin(program, i + 1);
    const { source, site } = program;
    const file = programs.files.find((one) => one.source === source)!;
    await withProgram(file, site, programs, seconds, async (open, means) => {
      const { misses } = open.lookup;
      const works = misses.filter(({ workload }) => !isOperationWork(workload));
      const { results } = await tuneDispatches(open, works, new Set(), means);
      const decided = works.filter(({ key }) => results.has(key)).length;
      done.push({ source, site, forms: open.forms?.reason ?? null, dispatches: works.length, decided });
    });
  }
  return done;
}

/** What a program said when it was run with all that was found. */
export interface ConcludedProgram extends Pick<ProgramToTune, 'source' | 'site'> {
  readonly verdict: ProgramVerdict;
}

/** Runs programs with all that was found, in the order of their files, at each site, unless that is known. */
export async function concludePrograms(programs: Programs, secondsEach: number): Promise<ConcludedProgram[]> {
  const found: ConcludedProgram[] = [];
  for (const [site, at] of programs.sites.entries()) {
    if (at.site.whyNotHere !== null) continue;
    for (const file of programs.files)
      await withProgram(file, site, programs, secondsEach, async (open, means) => {
        const { verdict } = await concludeProgram(open, '', false, means);
        if (verdict !== null) found.push({ source: file.source, site, verdict });
      });
  }
  return found;
}

/** @param seconds what a build of it would have as its budget */
async function withProgram(
  { path }: ProgramFile,
  site: number,
  { sites, knowledge: { store, surroundings } }: Programs,
  seconds: number,
  use: (open: OpenProgram, means: Means) => Promise<void>,
): Promise<void> {
  const settings = { ...surroundings.settings, budgetSeconds: seconds };
  const means = { store, surroundings: { ...surroundings, settings }, kept: new KeptModules() };
  const written = await programAt(path, sites[site]!.flags, surroundings);
  if (typeof written === 'string') return;
  try {
    await use(await openProgram(written, means), means);
  } finally {
    means.kept.discard();
  }
}
