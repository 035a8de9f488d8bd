// From a database to the data of a page. Pure: `ReportSource` does the reading.
import { configurationKey } from '../../backend/index.ts';
import { isDefault } from '../../backend/configuration.ts';
import { geometricMean } from '../../measure/statistics.ts';
import type { KnownDevice, RecordKey, TuningRecord } from '../../store/store.ts';
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
import type { PageData, PageLoss, PageRecord, Place } from './data.ts';
import { classOf, plain, shapeOf, short, typesOf } from './texts.ts';

type PlaceKey = Omit<RecordKey, 'workload'>;

/** The time that a program loses at one place. */
interface SourceLoss extends PlaceKey {
  readonly name: string;
  readonly loss: ProgramLoss;
}

export interface ReportSource extends Pick<PageData, 'about'> {
  readonly records: readonly TuningRecord[];
  readonly devices: readonly KnownDevice[];
  readonly workOf: (key: RecordKey) => Workload | undefined;
  readonly ratesOf: (place: PlaceKey) => DeviceRates;
  readonly losses: readonly SourceLoss[];
}

const MOST_PROGRAMS = 100;

export function pageDataOf(source: ReportSource): PageData {
  const { records, devices, losses, about } = source;
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
  const recordOf = (record: TuningRecord): PageRecord => {
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
      ...amountsOf(source.workOf(record), place.rates),
    };
  };
  const lossOf = ({ loss, name, ...key }: SourceLoss): PageLoss => ({
    ...{ ...loss, name, place: placeOf(key).index },
    summary: `${sumsText(loss)} ${ratesText(loss.rates)}`,
  });
  const largest = losses.toSorted((a, b) => (b.loss.lostSeconds ?? 0) - (a.loss.lostSeconds ?? 0));
  const found = {
    records: records.map(recordOf),
    losses: largest.slice(0, MOST_PROGRAMS).map(lossOf),
  };
  return presentable({ ...found, about, places: [...places.values()] });
}

/** The data with short numbers, and with texts that cannot reorder the text around them. */
const presentable = (data: PageData): PageData =>
  JSON.parse(
    JSON.stringify(data, (_, value: unknown) => {
      if (typeof value === 'string') return plain(value);
      return typeof value === 'number' && !Number.isInteger(value) ? short(value) : value;
    }),
  ) as PageData;

/** Times of dynamic sizes are geometric means over the sizes, so operations and bytes are, too. */
function amountsOf(form: Workload | undefined, rates: DeviceRates) {
  if (form === undefined) return { flops: null, bytes: null, bound: null };
  const mean = (of: typeof workloadFlops) => geometricMean(staticForms(form).map(of));
  const bound = isDynamic(form) ? null : boundOf(workloadAmount(form), rates);
  const seconds = bound === null || 'unknown' in bound ? null : bound.seconds;
  return { flops: mean(workloadFlops), bytes: mean(workloadBytes), bound: seconds };
}
