// What iree-tuned says when something has gone wrong.
import { UserError } from '../system/user-error.ts';

/** The message for a person; null for a bug, whose stack is worth more. */
export function messageForUser(error: unknown): string | null {
  if (!(error instanceof UserError) && !isRefusal(error)) return null;
  // It is this program that ends.
  return error.message.replace(/^iree-compile-tuned: /, '');
}

/** Whether the system, or SQLite for it, refused something: a missing folder, a full disk. */
const isRefusal = (error: unknown): error is Error =>
  error instanceof Error &&
  ('syscall' in error || ('code' in error && String(error.code).startsWith('SQLITE_')));
