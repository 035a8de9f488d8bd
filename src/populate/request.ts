// Plans a run from a user's request.
import type { TuningRecord } from '../store/store.ts';
import { placeOf } from '../store/subject.ts';
import { askedOfInput, askedOfMisses, askedOfShapes, type Knowledge, type Questions } from './ask.ts';
import { planPopulation, type Plan } from './plan.ts';
import type { ListedShape } from './shape-list.ts';
import { inBetterForms } from '../wrapper/program-forms.ts';
import { programAt, type PopulationSite } from './site.ts';

/** A program's file, and its name in messages. */
export interface ProgramFile {
  readonly path: string;
  readonly source: string;
}

export interface PopulationRequest {
  readonly programs: readonly ProgramFile[];
  readonly shapes: readonly ListedShape[];
  /** Whether the misses of builds are requested too. */
  readonly fromMisses: boolean;
}

/** A program with forms or dispatches to tune. */
export interface ProgramToTune {
  readonly source: string;
  /** Index of the site among those of the run. */
  readonly site: number;
  /** Number of whole dispatches without a record. */
  readonly dispatches: number;
  /** Whether its forms were never compared. */
  readonly hasOpenForms: boolean;
}

/** Programs to tune first, and workloads to tune alone. */
export interface RequestPlan extends Plan {
  readonly programs: readonly ProgramToTune[];
}

/**
 * Plans a request at every site. Surveys only programs.
 * @param sites the plan refers to them by index
 */
export async function planRequest(
  request: PopulationRequest,
  sites: readonly PopulationSite[],
  knowledge: Knowledge,
): Promise<RequestPlan> {
  const found: Questions[] = [];
  const programs: ProgramToTune[] = [];
  for (const [index, at] of sites.entries()) {
    for (const file of request.programs) {
      const { questions, program } = await askedOfProgram(file, index, at, knowledge);
      found.push(questions);
      if (program.hasOpenForms || program.dispatches > 0) programs.push(program);
    }
    found.push(askedOfShapes(request.shapes, index, at, knowledge));
  }
  if (request.fromMisses) found.push(askedOfMisses(knowledge.store.misses(), sites, knowledge));
  const records = Map.groupBy(knowledge.store.allRecords(), placeKey);
  const alone = planPopulation(
    found.flatMap(({ asked }) => asked),
    found.flatMap(({ skipped }) => skipped),
    (index): readonly TuningRecord[] => records.get(placeKey(placeOf(sites[index]!.site))) ?? [],
  );
  return { ...alone, programs };
}

const placeKey = ({ target, device, compiler }: Pick<TuningRecord, 'target' | 'device' | 'compiler'>) =>
  JSON.stringify([target, device, compiler]);

/** The workloads of a program in its best known forms. */
async function askedOfProgram(
  { path, source }: ProgramFile,
  site: number,
  at: PopulationSite,
  knowledge: Knowledge,
): Promise<{ readonly questions: Questions; readonly program: ProgramToTune }> {
  const { store, surroundings } = knowledge;
  const written = await programAt(path, at.flags, surroundings);
  if (typeof written === 'string')
    return {
      questions: { asked: [], skipped: [{ what: source, site, source, reason: written }] },
      program: { source, site, dispatches: 0, hasOpenForms: false },
    };
  const { program, forms } = await inBetterForms(written, store, surroundings);
  const questions = askedOfInput(program.inspected.input, source, site, at, knowledge);
  const dispatches = questions.asked.filter(({ standing }) => standing.kind === 'in program').length;
  const hasOpenForms = forms?.code === 'forms-unknown';
  return { questions, program: { source, site, dispatches, hasOpenForms } };
}
