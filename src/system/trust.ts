// Trust in files and folders: another user with write access could make a build run commands.
import { statSync, type Stats } from 'node:fs';

const OTHERS_MAY_WRITE = 0o022;

/** Whether this user or root owns a file; true on systems without users. */
export function isOwn({ uid }: Pick<Stats, 'uid'>): boolean {
  const own = process.geteuid?.();
  return own === undefined || uid === own || uid === 0;
}

/** Why a folder is not trustworthy; null if it is, or if it does not exist. Never throws. */
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
    // An inaccessible folder is not used.
    return null;
  }
}
