// Records as objects, and the filters.
import type { PageData, Place } from '../data.ts';
import { classOf, shapeOf, typesOf } from '../shape-name.ts';

export interface Row {
  /** Index of the record in the page's data. */
  readonly index: number;
  readonly key: string;
  readonly shape: string;
  readonly types: string;
  readonly shapeClass: string;
  readonly place: Place;
  readonly device: string;
  readonly configuration: string;
  readonly kind: string;
  readonly author: string;
  readonly failure: string | null;
  readonly outcome: Outcome;
  readonly ratio: number;
  readonly low: number;
  readonly high: number;
  readonly before: number;
  readonly after: number;
  readonly trials: number;
  readonly tuningSeconds: number;
  readonly complete: boolean;
  readonly written: Date;
  readonly flops: number | null;
  readonly bytes: number | null;
}

export const OUTCOMES = ['faster', 'default is best', 'must not be used'] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** Name of the device, else its key. */
export const deviceText = ({ deviceName, device }: Place): string => deviceName ?? device;

export function rowsOf({ records, places, workloads, texts }: PageData): Row[] {
  const shapes = workloads.key.map((key) => ({
    key,
    shape: shapeOf(key),
    types: typesOf(key),
    shapeClass: classOf(key),
  }));
  return records.workload.map((workload, index): Row => {
    const place = places[records.place[index]!]!;
    const kind = texts[records.kind[index]!]!;
    const failure = records.failure[index]!;
    return {
      ...{ index, ...shapes[workload]!, place, device: deviceText(place), kind },
      configuration: texts[records.configuration[index]!]!,
      author: texts[records.author[index]!]!,
      failure: failure === -1 ? null : texts[failure]!,
      outcome: failure !== -1 ? 'must not be used' : kind === 'default' ? 'default is best' : 'faster',
      ratio: records.ratio[index]!,
      low: records.low[index]!,
      high: records.high[index]!,
      before: records.defaultSeconds[index]!,
      // A record of the default runs as the default.
      after: kind === 'default' ? records.defaultSeconds[index]! : records.seconds[index]!,
      trials: records.trials[index]!,
      tuningSeconds: records.tuningSeconds[index]!,
      complete: records.complete[index] === 1,
      written: new Date(records.written[index]! * 60_000),
      flops: workloads.flops[workload]!,
      bytes: workloads.bytes[workload]!,
    };
  });
}

export interface Filters {
  readonly text: string;
  readonly device: string;
  readonly compiler: string;
  readonly target: string;
  readonly outcome: string;
}

export const NO_FILTERS: Filters = { text: '', device: '', compiler: '', target: '', outcome: '' };

/** Every word must be in the workload, shape (`x` matches `×`), configuration or author. */
export function filtered(rows: readonly Row[], filters: Filters): Row[] {
  const words = filters.text
    .toLowerCase()
    .replaceAll(/(?<=\d)x(?=\d)/g, '×')
    .split(/\s+/)
    .filter(Boolean);
  const { device, compiler, target, outcome } = filters;
  return rows.filter(
    (row) =>
      (device === '' || row.place.device === device) &&
      (compiler === '' || row.place.compiler === compiler) &&
      (target === '' || row.place.target === target) &&
      (outcome === '' || (outcome === 'incomplete' ? !row.complete : row.outcome === outcome)) &&
      words.every((word) =>
        `${row.key} ${row.shape} ${row.configuration} ${row.author}`.toLowerCase().includes(word),
      ),
  );
}
