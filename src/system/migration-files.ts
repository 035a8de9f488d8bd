// Reads the migrations of a schema: files `NNNN_name.sql` from 0001 without gaps.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Migrations of a schema. Tests have their own. */
export interface Migrations {
  /** Number of the last one. */
  readonly version: number;
  /** Folder with a file for each number from 1 to `version`. */
  readonly directory: string;
}

/**
 * SQL of all migrations, in order.
 * @param wrong creates the error for a missing file
 */
export function migrationFiles(
  { version, directory }: Migrations,
  wrong: (message: string) => Error,
): string[] {
  const names = readdirSync(directory);
  return Array.from({ length: version }, (_, i) => {
    const prefix = `${String(i + 1).padStart(4, '0')}_`;
    const name = names.find((candidate) => candidate.startsWith(prefix) && candidate.endsWith('.sql'));
    if (name === undefined)
      throw wrong(
        `the installation is incomplete: ${directory} has no ${prefix}*.sql; install iree-compile-tuned again`,
      );
    return readFileSync(join(directory, name), 'utf8');
  });
}
