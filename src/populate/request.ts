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
 * Plans a request at every site. Surveys only programs, in their best known forms.
 * @param sites the plan refers to them by index
 */
export async function planRequest(
  request: PopulationRequest,
  sites: readonly PopulationSite[],
  knowledge: Knowledge,
): Promise<RequestPlan> {
  const found: Questions[] = [];
  const programs: ProgramToTune[] = [];
  const { store, surroundings } = knowledge;
  for (const [site, at] of sites.entries()) {
    for (const { path, source } of request.programs) {
      const written = await programAt(path, at.flags, surroundings);
      if (typeof written === 'string') {
        found.push({ asked: [], skipped: [{ what: source, site, source, reason: written }] });
        continue;
      }
      const { program, forms } = await inBetterForms(written, store, surroundings);
      const questions = askedOfInput(program.inspected.input, source, site, at, knowledge);
      found.push(questions);
      const dispatches = questions.asked.filter(({ standing }) => standing.kind === 'in program').length;
      const hasOpenForms = forms?.code === 'forms-unknown';
      if (hasOpenForms || dispatches > 0) programs.push({ source, site, dispatches, hasOpenForms });
    }
    found.push(askedOfShapes(request.shapes, site, at, knowledge));
  }
  if (request.fromMisses) found.push(askedOfMisses(store.misses(), sites, knowledge));
  const records = Map.groupBy(store.allRecords(), placeKey);
  const alone = planPopulation(
    found.flatMap(({ asked }) => asked),
    found.flatMap(({ skipped }) => skipped),
    (index): readonly TuningRecord[] => records.get(placeKey(placeOf(sites[index]!.site))) ?? [],
  );
  return { ...alone, programs };
}

const placeKey = ({ target, device, compiler }: Pick<TuningRecord, 'target' | 'device' | 'compiler'>) =>
  JSON.stringify([target, device, compiler]);
