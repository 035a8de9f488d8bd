// From what a user asks for to the plan of a run.
import type { Surroundings } from '../settings/surroundings.ts';
import type { TuningRecord } from '../store/store.ts';
import { placeOf } from '../store/subject.ts';
import { askedOfInput, askedOfMisses, askedOfShapes, type Knowledge, type Questions } from './ask.ts';
import { planPopulation, type Plan } from './plan.ts';
import type { ListedShape } from './shape-list.ts';
import { inspectAt, type PopulationSite } from './site.ts';

export interface PopulationRequest {
  /** Paths of models. */
  readonly models: readonly string[];
  readonly shapes: readonly ListedShape[];
  /** Whether what builds have missed is asked for, too. */
  readonly fromMisses: boolean;
}

/**
 * Plans everything that is asked for, at every site. The compiler is asked about models only.
 * @param sites where each index of the plan leads
 */
export async function planRequest(
  { models, shapes, fromMisses }: PopulationRequest,
  sites: readonly PopulationSite[],
  knowledge: Knowledge,
): Promise<Plan> {
  const { store, surroundings } = knowledge;
  const found: Questions[] = [];
  for (const [index, at] of sites.entries()) {
    for (const model of models) found.push(await askedOfModel(model, index, at, knowledge, surroundings));
    found.push(askedOfShapes(shapes, index, at, knowledge));
  }
  if (fromMisses) found.push(askedOfMisses(store.misses(), sites, knowledge));
  const records = Map.groupBy(store.allRecords(), placeKey);
  return planPopulation(
    found.flatMap(({ asked }) => asked),
    found.flatMap(({ skipped }) => skipped),
    (index): readonly TuningRecord[] => records.get(placeKey(placeOf(sites[index]!.site))) ?? [],
  );
}

const placeKey = ({ target, device, compiler }: Pick<TuningRecord, 'target' | 'device' | 'compiler'>) =>
  JSON.stringify([target, device, compiler]);

async function askedOfModel(
  model: string,
  index: number,
  at: PopulationSite,
  knowledge: Knowledge,
  surroundings: Surroundings,
): Promise<Questions> {
  const inspected = await inspectAt(model, at.flags, surroundings);
  return typeof inspected === 'string'
    ? { asked: [], skipped: [{ what: model, site: index, source: model, reason: inspected }] }
    : askedOfInput(inspected.input, model, index, at, knowledge);
}
