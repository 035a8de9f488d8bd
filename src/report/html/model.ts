// From a database to the data of a page. Pure: `ReportSource` does the reading.
import { isDevice, largestCache } from '../../backend/device.ts';
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
import type { Counts } from '../counting.ts';
import { boundOf, type DeviceRates, type ProgramLoss } from '../loss.ts';
import { ratesText, sumsText } from '../loss-text.ts';
import { historyOf, statisticsOf } from '../statistics.ts';
import { curveOf } from './curves.ts';
import type {
  DriftPair,
  KernelsData,
  ModelsData,
  PageData,
  PageLoss,
  PageRecord,
  Place,
  SearchCurve,
} from './data.ts';
import { plain } from './plain.ts';
import { short } from './numbers.ts';
import { tasksOf, type Open } from './tasks.ts';
import { counted, formatRatio } from '../../system/format.ts';
import { meaningOf } from '../../system/reason.ts';

type PlaceKey = Omit<RecordKey, 'workload'>;

/** The time that a program loses at one place. */
export interface SourceLoss extends PlaceKey {
  readonly name: string;
  readonly loss: ProgramLoss;
}

export interface ReportSource {
  readonly records: readonly TuningRecord[];
  readonly misses: readonly Miss[];
  readonly devices: readonly KnownDevice[];
  readonly counts: Counts;
  readonly subjectOf: (key: RecordKey) => Subject | undefined;
  readonly trialsOf: (key: RecordKey) => readonly Trial[];
  /** Why a search could not decide, and its budget; null without such a search. */
  readonly undecidedOf: (key: RecordKey) => Pick<Undecided, 'reason' | 'budgetSeconds'> | null;
  readonly ratesOf: (place: PlaceKey) => DeviceRates;
  /** Timed programs. */
  readonly losses: readonly SourceLoss[];
  readonly kernels: KernelsData | null;
  readonly models: ModelsData | null;
  readonly about: PageData['about'];
}

/** Most curves of a page, of the records that save most time. To read all curves would take minutes. */
export const MOST_SEARCHES = 1000;

export function pageDataOf(source: ReportSource): PageData {
  const { records, devices, kernels, models, about } = source;
  const places: Place[] = [];
  const known = new Map(devices.map((device) => [device.key, device]));
  const placeOf = oncePer(placeKey, ({ target, device, compiler }): number => {
    const { form, name = null } = known.get(device) ?? {};
    const cacheBytes = isDevice(form) ? largestCache(form) : null;
    const keys = { target: plain(target), device: plain(device), compiler: plain(compiler) };
    return places.push({ ...keys, deviceName: name, cacheBytes }) - 1;
  });
  const ratesAt = oncePer(placeKey, source.ratesOf);
  const boundAt = (record: RecordKey): number | null => {
    const form = source.subjectOf(record)?.workloadForm;
    if (form === undefined || isDynamic(form)) return null;
    const bound = boundOf(workloadAmount(form), ratesAt(record));
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
    const keepsDefault = isDefault(configuration);
    return {
      ...{
        key: plain(workload),
        place: placeOf(record),
        configuration: text(configurationKey(configuration)),
      },
      kind: configuration.kind,
      outcome: failure !== null ? 'must not be used' : keepsDefault ? 'default is best' : 'faster',
      failure: failure && text(failure),
      ...{ ratio: short(evidence.ratio), low: short(evidence.low), high: short(evidence.high) },
      before: short(evidence.defaultSeconds),
      after: short(keepsDefault ? evidence.defaultSeconds : evidence.seconds),
      ...{ trials: evidence.trials, tuningSeconds: short(evidence.tuningSeconds, 3) },
      ...{ complete: evidence.complete, author: text(`${createdBy} on ${machine}`) },
      written: Math.floor(Date.parse(createdAt) / 60_000),
      ...{ ...workOf(record), bound: boundAt(record) },
    };
  };
  const counts = withMeanings(source.counts);
  const page = records.map(recordOf);
  const tasks = tasksOf([...missing(source, placeOf), ...incomplete(source, placeOf)]);
  return {
    version: 1,
    about: { ...about, database: plain(about.database), filter: plain(about.filter) },
    ...{ places, records: page, searches: searchesOf(source), losses: lossesOf(source, placeOf) },
    searchesLeftOut: Math.max(0, records.length - MOST_SEARCHES),
    ...{ drift: driftPairs(records), statistics: statisticsOf(counts), history: historyOf(counts) },
    ...{ tasks, kernels, models },
  };
}

/** A text of the database, cut to a length for tables. */
const text = (of: string): string => plain(of, 500);

/** The counts, with the meaning of each code in their names. */
const withMeanings = (counts: Counts): Counts =>
  Object.fromEntries(
    Object.entries(counts).map(([name, value]) => [text(name.replace(/(?<=: )[a-z-]+$/, meaningOf)), value]),
  );

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

type PlaceOf = (key: RecordKey) => number;

function missing({ misses, subjectOf, undecidedOf }: ReportSource, placeOf: PlaceOf): Open[] {
  return misses.flatMap((miss): Open[] => {
    const subject = subjectOf(miss);
    if (subject === undefined) return [];
    const undecided = undecidedOf(miss);
    const tried =
      undecided === null ? '' : `; not decided in ${undecided.budgetSeconds} s: ${undecided.reason}`;
    const note = `missed by ${counted(miss.count, 'build')}, last on ${miss.lastSeenAt.slice(0, 10)}${tried}`;
    // The builds times the operations: an estimate of the lost time.
    const weight = miss.count * workloadFlops(subject.workloadForm);
    return [{ kind: 'missing', subject, place: placeOf(miss), note, weight }];
  });
}

function incomplete({ records, subjectOf }: ReportSource, placeOf: PlaceOf): Open[] {
  return records.flatMap((record): Open[] => {
    const { configuration, evidence, failure } = record;
    if (evidence.complete || failure !== null) return [];
    const subject = subjectOf(record);
    if (subject === undefined) return [];
    const found = isDefault(configuration) ? 'nothing faster' : formatRatio(evidence.ratio);
    const note = `${found} after ${evidence.trials} trials in ${evidence.tuningSeconds.toFixed(0)} s`;
    return [{ kind: 'incomplete', subject, place: placeOf(record), note, weight: evidence.seconds }];
  });
}
