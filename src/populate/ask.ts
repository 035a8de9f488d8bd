// The requested workloads of a run, and the database's answer for each. Requests are shapes, models and the misses of builds.
import { parse } from 'mlir-parser-ts';
import { lookUp, workloadsOf } from '../decision/look-up.ts';
import type { Decision } from '../decision/decision.ts';
import type { Input } from '../input/input.ts';
import { classify, isTunable, type InputOperation } from '../input/operation.ts';
import type { Surroundings } from '../settings/surroundings.ts';
import type { Miss, Store } from '../store/store.ts';
import { placeOf } from '../store/subject.ts';
import type { Work } from '../tuning/tune-workloads.ts';
import type { TuningResult } from '../tuning/result.ts';
import { isUnfinished, isWorthAnotherTry, whyUndecided } from '../tuning/undecided.ts';
import { isKindOfWork, isSelfContained, needsProgram, workloadRank } from '../workload/workload.ts';
import type { Asked, LeftOut, Standing } from './plan.ts';
import { shapeModule } from './shape-module.ts';
import type { ListedShape } from './shape-list.ts';
import type { PopulationSite } from './site.ts';

const UNKNOWN_WORK = 'this version does not know such work';
const OF_PROGRAM = 'it is measured in its program: run iree-tuned tune on the model';

/** The requested and the skipped work at one site. */
export interface Questions {
  readonly asked: readonly Asked[];
  readonly skipped: readonly LeftOut[];
}

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
  /** Tune workloads with a record again. */
  readonly again?: boolean;
}

/** A search without a gain in as many seconds counts as finished, even if it did not end. A build gives about as much. */
const ENOUGH_SECONDS = 60;

/** A workload with its standing and its record, if any. */
export interface Known {
  readonly work: Work;
  readonly standing: Standing;
  readonly result: TuningResult | null;
}

/** The database's answer for all operations, by key. */
export function knownOf(
  input: Pick<Input, 'reading' | 'operations'>,
  { site }: Pick<PopulationSite, 'site'>,
  { store, surroundings: { settings }, secondsEach, tools, isRestricted, again }: Knowledge,
): ReadonlyMap<string, Known> {
  const lookup = lookUp(store, input, site, settings);
  const searchable = isRestricted === true ? lookup.misses : [...lookup.misses, ...lookup.narrow];
  const open = new Map(searchable.map((work) => [work.key, work]));
  const decisions = new Map<string, Decision>();
  for (const decision of lookup.decide(new Map()))
    if (decision.tunable !== null) decisions.set(decision.tunable.key, decision);
  const undecided = lookup.undecided();
  return new Map(
    workloadsOf(input, site, settings).map((one): [string, Known] => {
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

const skippedFor = (reason: string): Standing => ({ kind: 'skipped', reason });

/** The requests for the operations of an input. */
export function askedOfInput(
  input: Pick<Input, 'reading' | 'operations'>,
  source: string,
  index: number,
  at: PopulationSite,
  knowledge: Knowledge,
): Questions {
  const known = knownOf(input, at, knowledge);
  return {
    asked: [...known.values()].map(({ work, standing }) => ({ work, site: index, source, standing })),
    skipped: input.operations.flatMap((operation) =>
      isTunable(operation)
        ? []
        : [{ what: operation.place.name, site: index, source, reason: operation.reason }],
    ),
  };
}

/** The requests for shapes, by their text. They are surveyed just before their measurement. */
export function askedOfShapes(
  shapes: readonly ListedShape[],
  index: number,
  at: PopulationSite,
  knowledge: Knowledge,
): Questions {
  const text = new TextEncoder().encode(shapeModule(shapes.map(({ shape }) => shape)));
  const operations = classify(parse(text).operations, {}, at.reading.convert);
  const known = knownOf({ reading: at.reading, operations }, at, knowledge);
  const asked: Asked[] = [];
  const skipped: LeftOut[] = [];
  for (const [i, operation] of operations.entries()) {
    const { shape, where: source } = shapes[i]!;
    if (isTunable(operation)) {
      const { work, standing } = known.get(operation.key)!;
      asked.push({ work: { ...work, count: shape.count }, site: index, source, standing, shape });
    } else {
      const what = `${shape.op} ${shape.batch}x${shape.m}x${shape.n}x${shape.k}`;
      skipped.push({ what, site: index, source, reason: operation.reason });
    }
  }
  return { asked, skipped };
}

/**
 * The requests for misses of builds at these sites.
 * @param sites of the run
 */
export function askedOfMisses(
  misses: readonly Miss[],
  sites: readonly PopulationSite[],
  knowledge: Knowledge,
): Questions {
  const source = 'misses';
  const asked: Asked[] = [];
  const skipped: LeftOut[] = [];
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
        skipped.push({ what, site: index, source, reason: isKnown ? OF_PROGRAM : UNKNOWN_WORK });
        continue;
      }
      const loops = [...Array(workloadRank(workload)).keys()];
      counts.set(what, miss.count);
      operations.push({
        ...{ place: { name: what, operation: null, location: null }, key: what },
        ...{ workload, loops, written: { workload, loops, writtenLoops: loops } },
      });
    }
    for (const { work, standing } of knownOf({ reading: at.reading, operations }, at, knowledge).values())
      asked.push({ work: { ...work, count: counts.get(work.key)! }, site: index, source, standing });
  }
  for (const miss of left)
    skipped.push({ what: miss.workload, site: -1, source, reason: whyElsewhere(miss, sites) });
  return { asked, skipped };
}

function whyElsewhere({ target, device, compiler }: Miss, sites: readonly PopulationSite[]): string {
  const places = sites.map(({ site }) => placeOf(site));
  if (places.every((place) => place.compiler !== compiler))
    return `missed with another compiler: ${compiler}`;
  if (places.every((place) => place.device !== device)) return `missed on another device: ${device}`;
  return `missed for another target: give its flags with --flags: ${target}`;
}
