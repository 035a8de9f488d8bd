// Plans a run from a user's request: shapes, models and the misses of builds, with the database's answer for each workload.
import { parse } from 'mlir-parser-ts';
import { lookUp, toSearch, workloadsOf } from '../decision/look-up.ts';
import type { Decision } from '../decision/decision.ts';
import type { Input } from '../input/input.ts';
import { classify, isTunable, type InputOperation } from '../input/operation.ts';
import type { Surroundings } from '../settings/surroundings.ts';
import type { Miss, Store, TuningRecord } from '../store/store.ts';
import { placeOf } from '../store/subject.ts';
import { isUnfinished, isWorthAnotherTry, whyUndecided } from '../tuning/undecided.ts';
import { inBetterForms } from '../running/variants/better-forms.ts';
import { isKindOfWork, isSelfContained, needsProgram, workloadRank } from '../workload/workload.ts';
import { isAsked, planPopulation, type Answer, type Plan, type Requested, type Standing } from './plan.ts';
import { type Shape, shapeModule, shapeName } from './shape.ts';
import { programAt, type PopulationSite } from './site.ts';

const UNKNOWN_WORK = 'this version does not know such work';
const OF_PROGRAM = 'it is measured in its program: run iree-tuned tune on the model';

/** The database and the settings of a run. */
export interface Knowledge {
  readonly store: Store;
  readonly surroundings: Surroundings;
  /** Limit of seconds for each workload. A workload that stayed undecided after as many seconds is not tried again. */
  readonly secondsEach: number;
  /** Identities of the measuring tools. */
  readonly tools: readonly string[];
  /** Whether the user restricts the values of knobs. Then records of other restricted searches count as known. */
  readonly isRestricted?: boolean;
  readonly again?: boolean;
}

/** A search without a gain in as many seconds counts as finished, even if it did not end. A build gives about as much. */
const ENOUGH_SECONDS = 60;

/** The database's answer for all operations, by key. */
export function answersFor(
  input: Pick<Input, 'reading' | 'operations'>,
  { site }: Pick<PopulationSite, 'site'>,
  { store, surroundings: { settings }, secondsEach, tools, isRestricted, again }: Knowledge,
): ReadonlyMap<string, Answer> {
  const lookup = lookUp(store, input, site, settings);
  const open = new Map(toSearch(lookup, isRestricted === true).map((work) => [work.key, work]));
  const decisions = new Map<string, Decision>();
  for (const decision of lookup.decide(new Map()))
    if (decision.tunable !== null) decisions.set(decision.tunable.key, decision);
  const undecided = lookup.undecided();
  return new Map(
    workloadsOf(input, site, settings).map((one): [string, Answer] => {
      const work = open.get(one.key) ?? one;
      const why = site.whyNotHere ?? lookup.unsupported.get(one.key) ?? null;
      if (why !== null) return [one.key, { work, standing: skippedFor(why.reason), result: null }];
      if (open.has(one.key)) {
        const before = undecided.get(one.key);
        const isVain = before !== undefined && !isWorthAnotherTry(before, secondsEach, tools);
        const kind = needsProgram(one.workload) ? 'in program' : 'new';
        const standing: Standing = isVain ? skippedFor(whyUndecided(before)) : { kind };
        return [one.key, { work, standing, result: null }];
      }
      const { configuration, evidence } = decisions.get(one.key)!;
      const result = { configuration: configuration!, evidence: evidence! };
      const isAgain = again === true && !needsProgram(one.workload);
      const kind = isAgain || isUnfinished(result, ENOUGH_SECONDS) ? 'unfinished' : 'known';
      return [one.key, { work, standing: { kind }, result }];
    }),
  );
}

export const skippedFor = (reason: string): Standing => ({ kind: 'skipped', reason });

export function askedOfInput(
  input: Pick<Input, 'reading' | 'operations'>,
  source: string,
  index: number,
  at: PopulationSite,
  knowledge: Knowledge,
): Requested[] {
  const answers = [...answersFor(input, at, knowledge).values()];
  return [
    ...answers.map((answer) => ({ ...answer, site: index, source })),
    ...input.operations.flatMap((one) =>
      isTunable(one) ? [] : [{ what: one.place.name, site: index, source, reason: one.reason }],
    ),
  ];
}

/** The requests for shapes, by their text. They are surveyed just before their measurement. */
export function askedOfShapes(
  shapes: readonly Shape[],
  index: number,
  at: PopulationSite,
  knowledge: Knowledge,
): Requested[] {
  const text = new TextEncoder().encode(shapeModule(shapes));
  const operations = classify(parse(text).operations, {}, at.reading.convert);
  const answers = answersFor({ reading: at.reading, operations }, at, knowledge);
  return operations.map((operation, i) => {
    const shape = shapes[i]!;
    const { source, count } = shape;
    if (!isTunable(operation))
      return { what: shapeName(shape), site: index, source, reason: operation.reason };
    const answer = answers.get(operation.key)!;
    return { ...answer, work: { ...answer.work, count }, site: index, source, shape };
  });
}

/** The requests for misses of builds at the sites of a run. */
function askedOfMisses(
  misses: readonly Miss[],
  sites: readonly PopulationSite[],
  knowledge: Knowledge,
): Requested[] {
  const source = 'misses';
  const found: Requested[] = [];
  const left = new Set(misses);
  for (const [index, at] of sites.entries()) {
    const { target, device, compiler } = placeOf(at.site);
    const own = misses.filter(
      (miss) => miss.target === target && miss.device === device && miss.compiler === compiler,
    );
    const counts = new Map<string, number>();
    const operations: InputOperation[] = [];
    for (const miss of own) {
      left.delete(miss);
      const what = miss.workload;
      const workload = knowledge.store.subject(miss)?.workloadForm;
      const isKnown = workload !== undefined && isKindOfWork(workload.kind);
      if (!isKnown || !isSelfContained(workload)) {
        found.push({ what, site: index, source, reason: isKnown ? OF_PROGRAM : UNKNOWN_WORK });
        continue;
      }
      const loops = [...Array(workloadRank(workload)).keys()];
      counts.set(what, miss.count);
      operations.push({
        ...{ place: { name: what, operation: null, location: null }, key: what },
        ...{ workload, loops, written: { workload, loops, writtenLoops: loops } },
      });
    }
    for (const answer of answersFor({ reading: at.reading, operations }, at, knowledge).values()) {
      const count = counts.get(answer.work.key)!;
      found.push({ ...answer, work: { ...answer.work, count }, site: index, source });
    }
  }
  for (const miss of left)
    found.push({ what: miss.workload, site: -1, source, reason: whyElsewhere(miss, sites) });
  return found;
}

function whyElsewhere({ target, device, compiler }: Miss, sites: readonly PopulationSite[]): string {
  const places = sites.map(({ site }) => placeOf(site));
  if (places.every((place) => place.compiler !== compiler))
    return `missed with another compiler: ${compiler}`;
  if (places.every((place) => place.device !== device)) return `missed on another device: ${device}`;
  return `missed for another target: give its flags with --flags: ${target}`;
}

/** A program's file, and its name in messages. */
export interface ProgramFile {
  readonly path: string;
  readonly source: string;
}

export interface PopulationRequest {
  readonly programs: readonly ProgramFile[];
  /** Contractions. Shapes of whole dispatches are programs. */
  readonly shapes: readonly Shape[];
  readonly fromMisses: boolean;
}

/** A request with its targets and the database. Plans refer to sites by their index. */
export interface Run {
  readonly request: PopulationRequest;
  readonly sites: readonly PopulationSite[];
  readonly knowledge: Knowledge;
}

/** A program with forms or dispatches to tune. */
export interface ProgramToTune extends ProgramFile {
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

/** Plans a request at every site. Surveys only programs, in their best known forms. */
export async function planRequest({ request, sites, knowledge }: Run): Promise<RequestPlan> {
  const found: Requested[] = [];
  const programs: ProgramToTune[] = [];
  const { store, surroundings } = knowledge;
  for (const [site, at] of sites.entries()) {
    for (const { path, source } of request.programs) {
      const written = await programAt(path, at.flags, surroundings);
      if (typeof written === 'string') {
        found.push({ what: source, site, source, reason: written });
        continue;
      }
      const { program, forms } = await inBetterForms(written, store, surroundings);
      const own = askedOfInput(program.inspected.input, source, site, at, knowledge);
      found.push(...own);
      const dispatches = own.filter((one) => isAsked(one) && one.standing.kind === 'in program').length;
      const hasOpenForms = forms?.code === 'forms-unknown';
      if (hasOpenForms || dispatches > 0) programs.push({ path, source, site, dispatches, hasOpenForms });
    }
    found.push(...askedOfShapes(request.shapes, site, at, knowledge));
  }
  if (request.fromMisses) found.push(...askedOfMisses(store.misses(), sites, knowledge));
  const records = Map.groupBy(store.allRecords(), placeKey);
  const alone = planPopulation(
    found,
    (index): readonly TuningRecord[] => records.get(placeKey(placeOf(sites[index]!.site))) ?? [],
  );
  return { ...alone, programs };
}

const placeKey = ({ target, device, compiler }: Pick<TuningRecord, 'target' | 'device' | 'compiler'>) =>
  JSON.stringify([target, device, compiler]);
