// Makes a database a single file without free pages, for readers that change nothing.
import Database from 'better-sqlite3';

export function compact(path: string): void {
  const db = new Database(path);
  try {
    // In WAL mode a reader would write files beside it.
    db.pragma('journal_mode = DELETE');
    db.exec('VACUUM');
  } finally {
    db.close();
  }
}
