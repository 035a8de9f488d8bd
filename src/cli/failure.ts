// What iree-tuned says when something has gone wrong, and how it ends.
import { SettingsError } from '../settings/index.ts';
import { UserError } from '../system/user-error.ts';
import { UsageError } from './context.ts';
import { inWords } from './refusal.ts';

/** Of a command line or a setting that is not understood: nothing was done. Everything else that goes wrong ends with 1. */
export const USAGE_EXIT_CODE = 2;

export const exitCodeOf = (error: unknown): number =>
  error instanceof UsageError || error instanceof SettingsError ? USAGE_EXIT_CODE : 1;

/** The message for a person; null for a bug, whose stack is worth more. */
export function messageForUser(error: unknown): string | null {
  if (error instanceof UserError)
    // It is this program that ends.
    return error.message.replace(/^iree-compile-tuned: /, '');
  return isRefusal(error) ? named(error) : null;
}

/** Whether the system, or SQLite for it, refused something: a missing folder, a full disk. */
const isRefusal = (error: unknown): error is NodeJS.ErrnoException =>
  error instanceof Error &&
  ('syscall' in error || ('code' in error && String(error.code).startsWith('SQLITE_')));

/** With the path that it is about, where the system says it. */
const named = (error: NodeJS.ErrnoException): string =>
  error.path === undefined ? error.message : `${error.path}: ${inWords(error)}`;
