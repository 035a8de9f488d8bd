// Lines that describe the keys of a subject.
import { PARTS } from '../fields.ts';
import type { Subject } from '../store.ts';
import { formOf } from '../subject.ts';
import type { PartLine } from './lines.ts';

/** Send them before any line with the keys. */
export const partsOf = (subject: Subject): PartLine[] =>
  PARTS.map((type) => {
    const form = JSON.parse(JSON.stringify(formOf(subject, type))) as unknown;
    return { type, version: 1, key: subject[type], form };
  });
