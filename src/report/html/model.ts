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
import { pick } from '../../system/data.ts';
import {
  isDynamic,
  staticForms,
  workloadAmount,
  workloadBytes,
  workloadFlops,
  type Workload,
} from '../../workload/workload.ts';
import { boundOf, type DeviceRates, type ProgramLoss } from '../loss.ts';
import { ratesText, sumsText } from '../loss-text.ts';
import type { PageData, PageLoss, PageMiss, PageRecord, Place, Search } from './data.ts';
import { classOf, plain, shapeOf, short, typesOf } from './texts.ts';
import { tuneCommands } from './tune-command.ts';

type PlaceKey = Omit<RecordKey, 'workload'>;

/** The time that a program loses at one place. */
interface SourceLoss extends PlaceKey {
  readonly name: string;
  readonly loss: ProgramLoss;
}

export interface ReportSource extends Pick<PageData, 'about'> {
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
}

/** Most curves of a page, of the records that save most time. To read all curves would take minutes. */
const MOST_SEARCHES = 1000;

/** Most programs of a page. */
const MOST_PROGRAMS = 100;

export function pageDataOf(source: ReportSource): PageData {
  const { records, misses, devices, losses, about } = source;
  const places = new Map<string, Place & { readonly index: number }>();
  const names = new Map(devices.map(({ key, name }) => [key, name]));
  const placeOf = ({ target, device, compiler }: PlaceKey) => {
    const key = JSON.stringify([target, device, compiler]);
    const known = places.get(key);
    if (known !== undefined) return known;
    const rates = source.ratesOf({ target, device, compiler });
    const deviceName = names.get(device) ?? device;
    const place = { target, device, deviceName, compiler, rates, index: places.size };
    places.set(key, place);
    return place;
  };
  const saved = ({ evidence }: TuningRecord) => evidence.defaultSeconds - evidence.seconds;
  const searched = new Set(records.toSorted((a, b) => saved(b) - saved(a)).slice(0, MOST_SEARCHES));
  const previous = previousOf(records);
  const recordOf = (record: TuningRecord, i: number): PageRecord => {
    const { workload, configuration, evidence, failure } = record;
    const place = placeOf(record);
    const keepsDefault = isDefault(configuration);
    return {
      ...pick(record, ['workload', 'failure', 'createdBy', 'machine', 'createdAt']),
      ...evidence,
      seconds: keepsDefault ? evidence.defaultSeconds : evidence.seconds,
      ...{ shape: shapeOf(workload), types: typesOf(workload), shapeClass: classOf(workload) },
      place: place.index,
      ...{ configuration: configurationKey(configuration), kind: configuration.kind },
      outcome: failure !== null ? 'must not be used' : keepsDefault ? 'default is best' : 'faster',
      ...workOf(source.subjectOf(record)?.workloadForm, place.rates),
      search: searched.has(record) ? searchOf(source.trialsOf(record)) : null,
      previous: previous[i]!,
    };
  };
  const missOf = (miss: Miss): PageMiss[] => {
    const subject = source.subjectOf(miss);
    if (subject === undefined) return [];
    const search = source.undecidedOf(miss);
    return [
      {
        ...pick(miss, ['workload', 'count', 'lastSeenAt']),
        ...{ shape: shapeOf(miss.workload), place: placeOf(miss).index },
        undecided: search && `not decided in ${search.budgetSeconds} s: ${search.reason}`,
        commands: tuneCommands(subject),
      },
    ];
  };
  const lossOf = ({ loss, name, ...key }: SourceLoss): PageLoss => ({
    ...{ ...loss, name, place: placeOf(key).index },
    summary: `${sumsText(loss)} ${ratesText(loss.rates)}`,
  });
  const largest = losses.toSorted((a, b) => (b.loss.lostSeconds ?? 0) - (a.loss.lostSeconds ?? 0));
  const found = {
    records: records.map(recordOf),
    misses: misses.flatMap(missOf),
    losses: largest.slice(0, MOST_PROGRAMS).map(lossOf),
  };
  return presentable({ ...found, about, places: [...places.values()] });
}

/** The data with short numbers, and with texts that cannot reorder the text around them. */
const presentable = (data: PageData): PageData =>
  JSON.parse(
    JSON.stringify(data, (name, value: unknown) => {
      // A command has no unusual characters, and must stay whole.
      if (typeof value === 'string' && name !== 'command') return plain(value);
      return typeof value === 'number' && !Number.isInteger(value) ? short(value) : value;
    }),
  ) as PageData;

/** Times of dynamic sizes are geometric means over the sizes, so operations and bytes are, too. */
function workOf(form: Workload | undefined, rates: DeviceRates) {
  if (form === undefined) return { flops: null, bytes: null, bound: null };
  const mean = (of: typeof workloadFlops) => geometricMean(staticForms(form).map(of));
  const bound = isDynamic(form) ? null : boundOf(workloadAmount(form), rates);
  const seconds = bound === null || 'unknown' in bound ? null : bound.seconds;
  return { flops: mean(workloadFlops), bytes: mean(workloadBytes), bound: seconds };
}

/**
 * The best result so far, trial by trial; null if no configuration but the default was timed.
 * @param trials in the order of the search
 */
export function searchOf(trials: readonly Trial[]): Search | null {
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
    steps.push([i + 1, ratio]);
  }
  return tried.length === 0 ? null : { measured, failed, steps };
}

/** Orders keys such as `3.13.0rc20261016@abc`: older versions first, keys without a version last. */
const compareCompilers = (a: string, b: string): number => a.localeCompare(b, 'en', { numeric: true });

/** For each record the index of the usable record of the previous compiler; null for none, and for an unusable record. */
export function previousOf(records: readonly TuningRecord[]): (number | null)[] {
  const previous = records.map((): number | null => null);
  const usable = [...records.keys()].filter((i) => records[i]!.failure === null);
  const groups = Map.groupBy(usable, (i) => {
    const { workload, target, device } = records[i]!;
    return JSON.stringify([workload, target, device]);
  });
  for (const group of groups.values()) {
    group.sort((a, b) => compareCompilers(records[a]!.compiler, records[b]!.compiler));
    for (const [at, i] of group.entries()) previous[i] = group[at - 1] ?? null;
  }
  return previous;
}
