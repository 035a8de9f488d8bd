// Who writes records and marks, where, and with what.
import { hostname, userInfo } from 'node:os';
import { packageVersion } from '../system/package-root.ts';
import { LONGEST_NAME, plainText } from './limits.ts';
import type { Origin } from './store.ts';

/** @param otherwise where the user id of a container has no name */
export function userName(otherwise = 'unknown'): string {
  try {
    return userInfo().username;
  } catch {
    return otherwise;
  }
}

/** Of a record or a mark that is written now. */
export const writtenNow = () => ({ createdAt: new Date().toISOString(), createdBy: userName() });

/** Of what this process writes. Reads package.json: a hit does without. */
export const ownOrigin = (): Origin => ({
  createdBy: plainText(userName(), LONGEST_NAME),
  machine: plainText(hostname(), LONGEST_NAME),
  tool: packageVersion(),
});
