// Which part of a database is meant.
import type { RecordKey } from './store.ts';

/** Texts that keys have to contain; a part without one may be anything. */
export type Filter = Partial<RecordKey>;

const PARTS = ['workload', 'target', 'device', 'compiler'] as const;

/** Whether every text is part of its key. */
export const fits = (key: RecordKey, filter: Filter): boolean =>
  PARTS.every((part) => filter[part] === undefined || key[part].includes(filter[part]));

/** Whether it leaves anything out. */
export const isNarrow = (filter: Filter): boolean => PARTS.some((part) => filter[part] !== undefined);
