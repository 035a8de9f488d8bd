// How a program in place of a tool tells that its machine is out of reach, which says nothing about the module that it should have run.

import { UserError } from '../system/user-error.ts';

/** The machine of a runner is out of reach. */
export class UnreachableError extends UserError {
  override readonly name = 'UnreachableError';
}

export const BROKEN_CODE = 74;

export const BROKEN_TEXT = 'iree-tuned: ';

/** The reason; null if the tool itself has ended so. */
export function brokenLink(code: number | null, stderr: string): string | null {
  const at = code === BROKEN_CODE ? stderr.lastIndexOf(BROKEN_TEXT) : -1;
  return at < 0 ? null : stderr.slice(at + BROKEN_TEXT.length).trim();
}
