import type { Database, Statement } from 'better-sqlite3';
import type { Prepare } from './write.ts';

/** Prepares each statement at its first use, because a build needs only two or three. */
export function preparedOnce(db: Database): Prepare {
  const statements = new Map<string, Statement>();
  return (text) => {
    const known = statements.get(text) ?? db.prepare(text);
    statements.set(text, known);
    return known;
  };
}
