// Errors of a tuning database. The message names the file, the reason and the way out.
import { UserError } from '../system/user-error.ts';

/**
 * - `future`: a newer version of this program migrated it.
 * - `damaged`: not a valid database of this program.
 * - `foreign`: the file belongs to another program.
 * - `locked`: another process held a lock beyond the time limit.
 * - `unwritable`: it cannot be created or written.
 * - `network`: it is on a network disk, where it is read-only.
 * - `unavailable`: it cannot be read; callers treat it as empty.
 */
export type StoreErrorKind =
  'future' | 'damaged' | 'foreign' | 'locked' | 'unwritable' | 'network' | 'unavailable';

/** The only error of a store. `cause` has the original error, if any. */
export class StoreError extends UserError {
  override readonly name = 'StoreError';
  readonly kind: StoreErrorKind;

  constructor(kind: StoreErrorKind, message: string, options?: ErrorOptions) {
    super(message, options);
    this.kind = kind;
  }
}

export interface FailureContext {
  readonly path: string;
  readonly readonly: boolean;
  readonly busyTimeoutMs: number;
}

/** A way out that several messages share. */
export const ELSEWHERE = 'set IREE_TUNED_DB to another file';

/** SQLite's message about a file that does not begin as a database. */
const NO_DATABASE = 'file is not a database';

/** Converts errors of SQLite, its binding and the file system. A `StoreError` stays. */
export function toStoreError(error: unknown, context: FailureContext): StoreError {
  if (error instanceof StoreError) return error;
  const reason = error instanceof Error ? error.message : String(error);
  const kind = kindOf(errorCode(error), context);
  return new StoreError(kind, `tuning database ${context.path} ${sentence(kind, reason, context)}`, {
    cause: error,
  });
}

/** Returns a function that runs an action and converts its errors to `StoreError`. */
export const guardedBy =
  (context: FailureContext) =>
  <T>(action: () => T): T => {
    try {
      return action();
    } catch (error) {
      throw toStoreError(error, context);
    }
  };

/** Code of a Node or SQLite error, such as `ENOENT` or `SQLITE_BUSY`; empty for none. */
export function errorCode(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
}

/** Compares prefixes, because codes have extensions (`SQLITE_BUSY_SNAPSHOT`). */
function kindOf(code: string, { readonly }: FailureContext): StoreErrorKind {
  const is = (...names: string[]) => names.some((name) => code === name || code.startsWith(`${name}_`));
  if (is('SQLITE_BUSY', 'SQLITE_LOCKED', 'SQLITE_PROTOCOL')) return 'locked';
  // SQLITE_ERROR means a missing table or column, because the statements are tested.
  if (is('SQLITE_CORRUPT', 'SQLITE_NOTADB', 'SQLITE_ERROR', 'SQLITE_SCHEMA', 'SQLITE_FORMAT'))
    return 'damaged';
  // Extensions such as SQLITE_READONLY_DIRECTORY mean that even a read needs new files beside the database.
  if (readonly && code.startsWith('SQLITE_READONLY_')) return 'unavailable';
  if (is('SQLITE_READONLY', 'SQLITE_FULL', 'SQLITE_CONSTRAINT', 'SQLITE_TOOBIG')) return 'unwritable';
  if (is('SQLITE_CANTOPEN', 'SQLITE_PERM', 'SQLITE_IOERR') && !readonly) return 'unwritable';
  if (
    is('EACCES', 'EPERM', 'EROFS', 'ENOSPC', 'ENOTDIR', 'EISDIR', 'EEXIST', 'EDQUOT', 'ENAMETOOLONG') &&
    !readonly
  )
    return 'unwritable';
  return 'unavailable';
}

function sentence(kind: StoreErrorKind, reason: string, { readonly, busyTimeoutMs }: FailureContext): string {
  switch (kind) {
    case 'locked':
      return `is locked by another process (waited ${busyTimeoutMs} ms): try again after its end, or ${ELSEWHERE}`;
    case 'damaged':
      return `${reason === NO_DATABASE ? 'is no database, or is damaged' : 'is damaged'} (${reason}): move the file away, restore a copy, or ${ELSEWHERE}; builds go on without tuning`;
    case 'unwritable':
      if (readonly) return 'is open for reading only: unset IREE_TUNED_READONLY to write to it';
      return `cannot be written (${reason}): make room or grant access, set IREE_TUNED_READONLY=1 to only read it, or ${ELSEWHERE}`;
    case 'future':
    case 'foreign':
    case 'network':
    case 'unavailable':
      return `cannot be used (${reason}): ${ELSEWHERE}; builds go on without tuning`;
  }
}
