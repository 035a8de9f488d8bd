// Whether a file or folder can be trusted: others who may write to it could make a build run their commands.
import { statSync, type Stats } from 'node:fs';

/** Write permission of the group and of everybody else. */
const OTHERS_MAY_WRITE = 0o022;

/** Whether something belongs to this user, or to the administrator. Where the system has no users, it does. */
export function isOwn({ uid }: Pick<Stats, 'uid'>): boolean {
  const own = process.geteuid?.();
  return own === undefined || uid === own || uid === 0;
}

/** Why the content of a folder cannot be trusted; null if it can, or if there is no such folder. Never throws. */
export function whyDistrusted(folder: string): string | null {
  try {
    const status = statSync(folder, { throwIfNoEntry: false });
    if (status === undefined) return null;
    if (!isOwn(status)) return `it belongs to another user (uid ${status.uid})`;
    const mode = (status.mode & 0o777).toString(8);
    return process.geteuid !== undefined && (status.mode & OTHERS_MAY_WRITE) !== 0
      ? `others can write to it (mode ${mode}): chmod go-w ${folder}`
      : null;
  } catch {
    // A folder that cannot be looked at cannot be used either.
    return null;
  }
}
