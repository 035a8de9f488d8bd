// Selects a part of a database.
import { PARTS } from './fields.ts';
import type { RecordKey } from './store.ts';

/** Substrings that the parts of a key must contain. */
export type Filter = Partial<RecordKey>;

export const fits = (key: RecordKey, filter: Filter): boolean =>
  PARTS.every((part) => filter[part] === undefined || key[part].includes(filter[part]));

export const isNarrow = (filter: Filter): boolean => PARTS.some((part) => filter[part] !== undefined);
