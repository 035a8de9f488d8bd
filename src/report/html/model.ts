// From a database to the data of a page. Pure: `ReportSource` does the reading.
import { configurationKey } from '../../backend/index.ts';
import { isDefault } from '../../backend/configuration.ts';
import { geometricMean } from '../../measure/statistics.ts';
import type {
  KnownDevice,
  Miss,
  RecordKey,
  Subject,
  Trial,
  TuningRecord,
  Undecided,
} from '../../store/store.ts';
import {
  isDynamic,
  staticForms,
  workloadAmount,
  workloadBytes,
  workloadFlops,
} from '../../workload/workload.ts';
import { boundOf, type DeviceRates, type ProgramLoss } from '../loss.ts';
import { ratesText, sumsText } from '../loss-text.ts';
import type { Models } from './bench-models.ts';
import type { DriftPair, PageData, PageLoss, PageRecord, Place, SearchCurve } from './data.ts';
import { tasksOf } from './tasks.ts';
import { classOf, plain, shapeOf, short, typesOf } from './texts.ts';

type PlaceKey = Omit<RecordKey, 'workload'>;

/** The time that a program loses at one place. */
interface SourceLoss extends PlaceKey {
  readonly name: string;
  readonly loss: ProgramLoss;
}

export interface ReportSource {
  readonly records: readonly TuningRecord[];
  readonly misses: readonly Miss[];
  readonly devices: readonly KnownDevice[];
  readonly subjectOf: (key: RecordKey) => Subject | undefined;
  readonly trialsOf: (key: RecordKey) => readonly Trial[];
  /** Why a search could not decide, and its budget; null without such a search. */
  readonly undecidedOf: (key: RecordKey) => Pick<Undecided, 'reason' | 'budgetSeconds'> | null;
  readonly ratesOf: (place: PlaceKey) => DeviceRates;
  /** Timed programs. */
  readonly losses: readonly SourceLoss[];
  readonly models: Models | null;
  readonly about: PageData['about'];
}

/** Most curves of a page, of the records that save most time. To read all curves would take minutes. */
const MOST_SEARCHES = 1000;

export function pageDataOf(source: ReportSource): PageData {
  const { records, devices, models, about } = source;
  const places: Place[] = [];
  const names = new Map(devices.map(({ key, name }) => [key, name]));
  const placeOf = oncePer(placeKey, ({ target, device, compiler }): number => {
    const keys = { target: plain(target), device: plain(device), compiler: plain(compiler) };
    const rates = source.ratesOf({ target, device, compiler });
    return places.push({ ...keys, deviceName: names.get(device) ?? keys.device, rates }) - 1;
  });
  const boundAt = (record: RecordKey): number | null => {
    const form = source.subjectOf(record)?.workloadForm;
    if (form === undefined || isDynamic(form)) return null;
    const bound = boundOf(workloadAmount(form), places[placeOf(record)]!.rates);
    return 'unknown' in bound ? null : short(bound.seconds);
  };
  const workOf = oncePer(
    ({ workload }: RecordKey) => workload,
    (key) => {
      const form = source.subjectOf(key)?.workloadForm;
      // Times are geometric means over the sizes of dynamic dimensions, so the operations are, too.
      const mean = (of: typeof workloadFlops) =>
        form === undefined ? null : short(geometricMean(staticForms(form).map(of)));
      return { flops: mean(workloadFlops), bytes: mean(workloadBytes) };
    },
  );
  const recordOf = (record: TuningRecord): PageRecord => {
    const { workload, configuration, evidence, failure, createdBy, machine, createdAt } = record;
    const key = plain(workload);
    const keepsDefault = isDefault(configuration);
    return {
      ...{ key, shape: shapeOf(key), types: typesOf(key), shapeClass: classOf(key) },
      place: placeOf(record),
      configuration: text(configurationKey(configuration)),
      kind: configuration.kind,
      outcome: failure !== null ? 'must not be used' : keepsDefault ? 'default is best' : 'faster',
      failure: failure && text(failure),
      ...{ ratio: short(evidence.ratio), low: short(evidence.low), high: short(evidence.high) },
      before: short(evidence.defaultSeconds),
      after: short(keepsDefault ? evidence.defaultSeconds : evidence.seconds),
      ...{ trials: evidence.trials, tuningSeconds: short(evidence.tuningSeconds, 3) },
      ...{ complete: evidence.complete, author: text(`${createdBy} on ${machine}`) },
      written: createdAt.slice(0, 16).replace('T', ' '),
      ...{ ...workOf(record), bound: boundAt(record) },
    };
  };
  return {
    version: 1,
    about: { ...about, database: plain(about.database), filter: plain(about.filter) },
    records: records.map(recordOf),
    ...{ searches: searchesOf(source), searchesLeftOut: Math.max(0, records.length - MOST_SEARCHES) },
    ...{ losses: lossesOf(source, placeOf), drift: driftPairs(records), tasks: tasksOf(source, placeOf) },
    ...{ models, places },
  };
}

/** A text of the database, cut to a length for tables. */
const text = (of: string): string => plain(of, 500);

const placeKey = ({ target, device, compiler }: PlaceKey) => JSON.stringify([target, device, compiler]);

/** Most programs of a page. */
const MOST_PROGRAMS = 100;

function lossesOf({ losses }: ReportSource, placeOf: (key: PlaceKey) => number): PageLoss[] {
  return losses
    .toSorted((a, b) => (b.loss.lostSeconds ?? 0) - (a.loss.lostSeconds ?? 0))
    .slice(0, MOST_PROGRAMS)
    .map((one): PageLoss => {
      const { rates, ...loss } = one.loss;
      const dispatches = loss.dispatches.map((own) => ({ ...own, dispatch: text(own.dispatch) }));
      return {
        ...{ ...loss, dispatches, name: text(one.name), place: placeOf(one) },
        ...{ sums: sumsText(loss), rates: ratesText(rates) },
      };
    });
}

/** A function that computes the value of each key once. */
function oncePer<K, T>(keyOf: (of: K) => string, compute: (of: K) => T): (of: K) => T {
  const values = new Map<string, T>();
  return (of) => {
    const key = keyOf(of);
    if (!values.has(key)) values.set(key, compute(of));
    return values.get(key)!;
  };
}

function searchesOf({ records, trialsOf }: ReportSource): SearchCurve[] {
  const saved = ({ evidence }: TuningRecord) => evidence.defaultSeconds - evidence.seconds;
  return [...records.keys()]
    .sort((a, b) => saved(records[b]!) - saved(records[a]!))
    .slice(0, MOST_SEARCHES)
    .map((i) => curveOf(i, trialsOf(records[i]!)))
    .filter((curve) => curve !== null);
}

/**
 * The best result so far, trial by trial; null if no configuration but the default was timed.
 * @param record its index
 * @param trials in the order of the search
 */
export function curveOf(record: number, trials: readonly Trial[]): SearchCurve | null {
  const steps: [number, number][] = [];
  const failed: Record<string, number> = {};
  let [measured, best] = [0, 1];
  const tried = trials.filter(({ configuration }) => !isDefault(configuration));
  for (const [i, { outcome, ratio }] of tried.entries()) {
    if (outcome !== 'measured') {
      failed[outcome] = (failed[outcome] ?? 0) + 1;
      continue;
    }
    measured++;
    if (ratio === null || !(ratio > best)) continue;
    best = ratio;
    steps.push([i + 1, short(ratio, 3)]);
  }
  return tried.length === 0 ? null : { record, measured, failed, steps };
}

/** Orders keys such as `3.13.0rc20261016@abc`: older versions first, keys without a version last. */
const compareCompilers = (a: string, b: string): number => a.localeCompare(b, 'en', { numeric: true });

/** Pairs of usable records of successive compilers, as indices of `records`. */
export function driftPairs(records: readonly TuningRecord[]): DriftPair[] {
  const groups = Map.groupBy(
    [...records.keys()].filter((i) => records[i]!.failure === null),
    (i) => JSON.stringify([records[i]!.workload, records[i]!.target, records[i]!.device]),
  );
  return [...groups.values()].flatMap((group): DriftPair[] => {
    const inOrder = group.toSorted((a, b) => compareCompilers(records[a]!.compiler, records[b]!.compiler));
    return inOrder.slice(1).map((after, i) => ({ before: inOrder[i]!, after }));
  });
}
