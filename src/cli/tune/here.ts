// Tunes the work of a request on this machine.
import type { WrittenKnob } from '../../backend/user-space.ts';
import type { MeasuringTools } from '../../compiler/find.ts';
import type { Knowledge } from '../../populate/ask.ts';
import { describeProgram, type ProgramResults } from '../../populate/describe.ts';
import { executorHere } from '../../populate/executor.ts';
import { isInterrupted, type Populated } from '../../populate/populate.ts';
import { concludePrograms, PROGRAM_SECONDS, tunePrograms } from '../../populate/programs.ts';
import { planRequest, type PopulationRequest, type RequestPlan } from '../../populate/request.ts';
import type { PopulationSite } from '../../populate/site.ts';
import { searchInWords } from '../../report/sentences.ts';
import type { TuningProgress } from '../../tuning/search-job.ts';
import { STRATEGIES } from '../../search/index.ts';
import { EFFORT_ALONE } from '../../tuning/search-job.ts';
import { likelyCompilesAtOnce } from '../../tuning/here.ts';
import type { SearchOptions } from '../command.ts';
import { restricted } from '../search-space.ts';
import { carryOut } from './carry-out.ts';

/** A request with its targets and its time. */
export interface Run {
  readonly request: PopulationRequest;
  readonly sites: readonly PopulationSite[];
  readonly knowledge: Knowledge;
  readonly budgetSeconds: number | undefined;
  /** Scratch folder. */
  readonly folder: string;
}

/** Tools and limits of this machine. */
export interface Means extends Pick<SearchOptions, 'strategy' | 'trials'> {
  readonly tools: MeasuringTools | null;
  /** Number of parallel compiles; by default as many as fit the machine. */
  readonly jobs?: number;
  /** Values that `--search-space` allows; null for all. */
  readonly written: readonly WrittenKnob[] | null;
  /** Run every program at the end, even if its verdict is known. */
  readonly verifyProgram?: boolean;
}

/** Tunes programs as wholes, then workloads alone, then runs each program with all configurations. */
export async function tuneHere(
  first: RequestPlan,
  { request, sites, knowledge, budgetSeconds = Infinity, folder }: Run,
  { tools, jobs = likelyCompilesAtOnce(), written, strategy, trials, verifyProgram = false }: Means,
): Promise<{ plan: RequestPlan; results: readonly Populated[]; found: ProgramResults }> {
  const end = performance.now() + 1000 * budgetSeconds;
  const secondsLeft = () => Math.max(0, (end - performance.now()) / 1000);
  const programs = { files: request.programs, sites, knowledge };
  const tuned = await tunePrograms(first.programs, programs, budgetSeconds, (program, number) => {
    const what = `${program.source}: ${describeProgram(program)}`;
    process.stderr.write(`iree-tuned: program ${number} of ${first.programs.length}, ${what}\n`);
  });
  const plan = tuned.length === 0 ? first : await planRequest(request, sites, knowledge);
  const lastSeconds = Math.min(LAST_SHARE * secondsLeft(), PROGRAM_SECONDS * programs.files.length);
  const results = await carryOut(plan, secondsLeft() - lastSeconds, jobs, (show) => {
    const onProgress = (progress: TuningProgress) => {
      show(searchInWords(progress), progress);
    };
    const executor = executorHere(sites, knowledge, {
      ...{ tools, folder, jobs, onProgress },
      strategy: STRATEGIES[strategy]!,
      effort: { ...EFFORT_ALONE, maxTrials: trials ?? EFFORT_ALONE.maxTrials },
    });
    return {
      ...executor,
      tune: (works, again, site, group) =>
        executor.tune(restricted(works, sites[site]!.site, written), again, site, group),
    };
  });
  const concluded = isInterrupted(results)
    ? []
    : await concludePrograms(programs, secondsLeft(), verifyProgram);
  return { plan, results, found: { tuned, concluded } };
}

/** Share of the remaining time that is kept for the last run of each program. */
const LAST_SHARE = 0.25;
