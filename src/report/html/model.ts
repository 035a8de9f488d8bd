// From a database to the data of a page. Pure: `ReportSource` does the reading.
import { isDevice, largestCache } from '../../backend/device.ts';
import { configurationKey } from '../../backend/index.ts';
import { isDefault } from '../../backend/configuration.ts';
import { geometricMean } from '../../measure/statistics.ts';
import type { KnownDevice, Miss, RecordKey, Subject, Trial, TuningRecord } from '../../store/store.ts';
import { staticForms, workloadBytes, workloadFlops } from '../../workload/workload.ts';
import type { Counts } from '../counting.ts';
import { historyOf, statisticsOf, type DayStatistics } from '../statistics.ts';
import { curveOf } from './curves.ts';
import type { Day, KernelsData, ModelsData, PageData, Place, RecordColumns, SearchCurve } from './data.ts';
import { driftPairs } from './drift.ts';
import { plain } from './plain.ts';
import { short } from './pack.ts';
import { tasksOf, weightOfMiss, type Open } from './tasks.ts';
import { formatRatio } from '../../system/format.ts';
import { meaningOf } from '../../system/reason.ts';

export interface ReportSource {
  readonly records: readonly TuningRecord[];
  readonly misses: readonly Miss[];
  readonly devices: readonly KnownDevice[];
  readonly counts: Counts;
  readonly subjectOf: (key: RecordKey) => Subject | undefined;
  readonly trialsOf: (key: RecordKey) => readonly Trial[];
  /** Why a search could not decide, and its budget; null without such a search. */
  readonly undecidedOf: (
    key: RecordKey,
  ) => { readonly reason: string; readonly budgetSeconds: number } | null;
  readonly kernels: KernelsData | null;
  readonly models: ModelsData | null;
  readonly about: PageData['about'];
}

/** Most curves of a page, of the records that save most time. To read all curves would take minutes. */
export const MOST_SEARCHES = 1000;

export function pageDataOf(source: ReportSource): PageData {
  const { records, devices, kernels, models, about } = source;
  const texts = new Numbered<string>();
  const places = new Numbered<Place>();
  const workloads = new Numbered<string>();
  const subjects = new Map<string, Subject | undefined>();
  const known = new Map(devices.map((device) => [device.key, device]));
  const placeOf = ({ target, device, compiler }: RecordKey): number => {
    const { form, name = null } = known.get(device) ?? {};
    const cacheBytes = isDevice(form) ? largestCache(form) : null;
    return places.of(JSON.stringify([target, device, compiler]), () => ({
      ...{ target: plain(target), device: plain(device), deviceName: name, compiler: plain(compiler) },
      cacheBytes,
    }));
  };
  const textOf = (text: string) => texts.of(text, () => plain(text, 500));
  const workloadOf = (record: TuningRecord) => {
    if (!subjects.has(record.workload)) subjects.set(record.workload, source.subjectOf(record));
    return workloads.of(record.workload, () => plain(record.workload));
  };
  const column = <T>(value: (record: TuningRecord) => T): T[] => records.map(value);
  const columns: RecordColumns = {
    workload: column(workloadOf),
    place: column(placeOf),
    configuration: column(({ configuration }) => textOf(configurationKey(configuration))),
    kind: column(({ configuration }) => textOf(configuration.kind)),
    author: column(({ createdBy, machine }) => textOf(`${createdBy} on ${machine}`)),
    failure: column(({ failure }) => (failure === null ? -1 : textOf(failure))),
    ratio: column(({ evidence }) => short(evidence.ratio)),
    low: column(({ evidence }) => short(evidence.low)),
    high: column(({ evidence }) => short(evidence.high)),
    defaultSeconds: column(({ evidence }) => short(evidence.defaultSeconds)),
    seconds: column(({ evidence }) => short(evidence.seconds)),
    trials: column(({ evidence }) => evidence.trials),
    tuningSeconds: column(({ evidence }) => short(evidence.tuningSeconds, 3)),
    complete: column(({ evidence }) => Number(evidence.complete)),
    written: column(({ createdAt }) => Math.floor(Date.parse(createdAt) / 60_000)),
  };
  const counts = withMeanings(source.counts);
  const tasks = tasksOf([...missing(source, placeOf), ...incomplete(source, placeOf)]);
  const keys = workloads.keys();
  const mean = (key: string, of: typeof workloadFlops): number | null => {
    const form = subjects.get(key)?.workloadForm;
    // Times are geometric means over the sizes of dynamic dimensions, so the operations are, too.
    return form === undefined ? null : short(geometricMean(staticForms(form).map(of)));
  };
  return {
    version: 1,
    about: { ...about, database: plain(about.database), filter: plain(about.filter) },
    texts: texts.values(),
    places: places.values(),
    workloads: {
      key: workloads.values(),
      flops: keys.map((key) => mean(key, workloadFlops)),
      bytes: keys.map((key) => mean(key, workloadBytes)),
    },
    records: columns,
    ...searchesOf(source),
    drift: driftPairs(records),
    statistics: statisticsOf(counts),
    history: historyOf(counts).map(dayOf),
    tasks,
    kernels,
    models,
    ...{ searchesLeftOut: Math.max(0, records.length - MOST_SEARCHES) },
  };
}

/** The counts, with the meaning of each code in their names. */
const withMeanings = (counts: Counts): Counts =>
  Object.fromEntries(
    Object.entries(counts).map(([name, value]) => [name.replace(/(?<=: )[a-z-]+$/, meaningOf), value]),
  );

/** Distinct values by key, numbered in the order of their arrival. */
class Numbered<V> {
  private readonly entries = new Map<string, { readonly number: number; readonly value: V }>();

  of(key: string, value: () => V): number {
    let entry = this.entries.get(key);
    if (entry === undefined) {
      entry = { number: this.entries.size, value: value() };
      this.entries.set(key, entry);
    }
    return entry.number;
  }

  keys(): string[] {
    return [...this.entries.keys()];
  }

  values(): V[] {
    return Array.from(this.entries.values(), ({ value }) => value);
  }
}

function searchesOf({ records, trialsOf }: ReportSource): { readonly searches: SearchCurve[] } {
  const saved = ({ evidence }: TuningRecord) => evidence.defaultSeconds - evidence.seconds;
  const chosen = [...records.keys()]
    .sort((a, b) => saved(records[b]!) - saved(records[a]!))
    .slice(0, MOST_SEARCHES);
  const curves = chosen.map((i) => curveOf(i, trialsOf(records[i]!)));
  return { searches: curves.filter((curve) => curve !== null) };
}

type PlaceOf = (key: RecordKey) => number;

function missing({ misses, subjectOf, undecidedOf }: ReportSource, placeOf: PlaceOf): Open[] {
  return misses.flatMap((miss): Open[] => {
    const subject = subjectOf(miss);
    if (subject === undefined) return [];
    const undecided = undecidedOf(miss);
    const builds = miss.count === 1 ? '1 build' : `${miss.count} builds`;
    const tried =
      undecided === null ? '' : `; not decided in ${undecided.budgetSeconds} s: ${undecided.reason}`;
    const note = `missed by ${builds}, last on ${miss.lastSeenAt.slice(0, 10)}${tried}`;
    return [
      { kind: 'missing', subject, place: placeOf(miss), note, weight: weightOfMiss(miss.count, subject) },
    ];
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

function dayOf({ day, statistics }: DayStatistics): Day {
  const { compiles, operations, reasons } = statistics;
  const named = Object.entries(reasons).flatMap(([what, counts]) =>
    Object.entries(counts).map(([reason, count]): [string, number] => [
      `${what}: ${plain(reason, 200)}`,
      count,
    ]),
  );
  const { hit, tuned, default: left, skipped } = operations;
  return {
    day,
    compiles: compiles.all,
    hit,
    tuned,
    default: left,
    skipped,
    reasons: Object.fromEntries(named),
  };
}
