// Author, machine and tool of new records and marks.
import { hostname, userInfo } from 'node:os';
import { resultOr } from '../system/result-or.ts';
import { packageVersion } from '../system/package-root.ts';
import { LONGEST_NAME, plainText } from './validate.ts';
import type { Origin } from './store.ts';

/** @param otherwise result for a user id without a name, as in containers */
export const userName = (otherwise = 'unknown'): string => resultOr(() => userInfo().username, otherwise);

/** Time of a new record or mark. The store adds its origin. */
export const writtenNow = () => ({ createdAt: new Date().toISOString() });

/**
 * Origin of everything that this process writes. Reads package.json, so no hit calls it.
 * @param author the setting, which replaces the user's name
 */
export const ownOrigin = (author?: string): Origin => ({
  createdBy: plainText(author ?? userName(), LONGEST_NAME),
  machine: plainText(hostname(), LONGEST_NAME),
  tool: packageVersion(),
});
