// Errors of commands, their messages and exit codes.
import { SettingsError } from '../settings/index.ts';
import { UserError } from '../system/user-error.ts';
import { refusalOf } from '../system/user-files.ts';

/** The command line is invalid; the message says how to write it. */
export class UsageError extends UserError {
  override readonly name = 'UsageError';
}

/** For an invalid command line or setting: the command has not started. Other errors end with 1. */
export const USAGE_EXIT_CODE = 2;

export const exitCodeOf = (error: unknown): number =>
  error instanceof UsageError || error instanceof SettingsError ? USAGE_EXIT_CODE : 1;

/** The message for the user; null for a bug, which needs its stack. */
export function messageForUser(error: unknown): string | null {
  if (error instanceof UserError)
    // The message may come from code of the wrapper.
    return error.message.replace(/^iree-compile-tuned: /, '');
  if (!isRefusal(error)) return null;
  return error.path === undefined ? error.message : `${error.path}: ${refusalOf(error)}`;
}

/** Whether the system or SQLite has refused an operation, such as a write to a full disk. */
const isRefusal = (error: unknown): error is NodeJS.ErrnoException =>
  error instanceof Error &&
  ('syscall' in error || ('code' in error && String(error.code).startsWith('SQLITE_')));
