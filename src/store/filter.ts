// Selects a part of a database.
import { PARTS } from './fields.ts';
import type { RecordKey } from './store.ts';

/** Substrings that the parts of a key must contain. */
export type Filter = Partial<RecordKey>;

/** Whether a key matches a filter. */
export const fits = (key: RecordKey, filter: Filter): boolean =>
  PARTS.every((part) => filter[part] === undefined || key[part].includes(filter[part]));

/** Whether a filter has any condition. */
export const isNarrow = (filter: Filter): boolean => PARTS.some((part) => filter[part] !== undefined);
