// Everything a tuning database can do to its caller, as one class whose message names the file and the way out.
import { UserError } from '../system/user-error.ts';

/**
 * - `future`: written by a newer version of this program.
 * - `damaged`: not readable as the database it claims to be.
 * - `foreign`: something of another program stands at this path.
 * - `locked`: another process held it for longer than the busy timeout.
 * - `unwritable`: it cannot be created, or it refuses what was to be written.
 * - `network`: it lies on a network disk and is not written there; it may be read.
 * - `unavailable`: there is nothing to read; callers treat it as empty.
 */
export type StoreErrorKind =
  'future' | 'damaged' | 'foreign' | 'locked' | 'unwritable' | 'network' | 'unavailable';

/** The only error that opening or using a store throws. `cause` holds the original one, where there was one. */
export class StoreError extends UserError {
  override readonly name = 'StoreError';
  readonly kind: StoreErrorKind;

  constructor(kind: StoreErrorKind, message: string, options?: ErrorOptions) {
    super(message, options);
    this.kind = kind;
  }
}

/** What is known about the connection on which something failed. */
export interface FailureContext {
  readonly path: string;
  readonly readonly: boolean;
  readonly busyTimeoutMs: number;
}

/** Shared last words: which setting leads somewhere else. */
export const ELSEWHERE = 'set IREE_TUNED_DB to another file';

/** Translates whatever SQLite, its binding or the file system threw. A `StoreError` passes unchanged. */
export function toStoreError(error: unknown, context: FailureContext): StoreError {
  if (error instanceof StoreError) return error;
  const reason = error instanceof Error ? error.message : String(error);
  const kind = kindOf(errorCode(error), context);
  return new StoreError(kind, `tuning database ${context.path} ${sentence(kind, reason, context)}`, {
    cause: error,
  });
}

/** Does something with a connection; whatever it throws is a `StoreError` then. */
export const guardedBy =
  (context: FailureContext) =>
  <T>(action: () => T): T => {
    try {
      return action();
    } catch (error) {
      throw toStoreError(error, context);
    }
  };

/** Code of a Node or SQLite error, such as `ENOENT` or `SQLITE_BUSY`; empty when it has none. */
export function errorCode(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
}

/** Codes come with extensions (`SQLITE_BUSY_SNAPSHOT`), so only their beginning decides. */
function kindOf(code: string, { readonly }: FailureContext): StoreErrorKind {
  const is = (...names: string[]) => names.some((name) => code === name || code.startsWith(`${name}_`));
  if (is('SQLITE_BUSY', 'SQLITE_LOCKED', 'SQLITE_PROTOCOL')) return 'locked';
  // SQLITE_ERROR is how a missing table or column shows: the statements themselves are tested.
  if (is('SQLITE_CORRUPT', 'SQLITE_NOTADB', 'SQLITE_ERROR', 'SQLITE_SCHEMA', 'SQLITE_FORMAT'))
    return 'damaged';
  // Its extensions, such as SQLITE_READONLY_DIRECTORY, say that even reading would take files beside the database.
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
      return `is locked by another process (waited ${busyTimeoutMs} ms): try again when that has ended, or ${ELSEWHERE}`;
    case 'damaged':
      return `is damaged (${reason}): move it away, or restore a copy; builds go on without tuning`;
    case 'unwritable':
      if (readonly) return 'was opened only to be read: unset IREE_TUNED_READONLY to write it';
      return `cannot be written (${reason}): make room or grant access, set IREE_TUNED_READONLY=1 to only read it, or ${ELSEWHERE}`;
    case 'future':
    case 'foreign':
    case 'network':
    case 'unavailable':
      return `cannot be used (${reason}): ${ELSEWHERE}; builds go on without tuning`;
  }
}
