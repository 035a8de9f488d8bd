import type { Database, Statement } from 'better-sqlite3';
import type { Prepare } from './write.ts';

/** A build needs two or three statements: each is prepared when it is first used. */
export function preparedOnce(db: Database): Prepare {
  const statements = new Map<string, Statement>();
  return (text) => {
    const known = statements.get(text) ?? db.prepare(text);
    statements.set(text, known);
    return known;
  };
}
