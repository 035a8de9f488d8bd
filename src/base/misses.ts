// Misses of builds in the inbox: files of lines, which wait for a publisher with a fleet.
import { lstatSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { classOr } from '../backend/device.ts';
import { openStore } from '../store/open.ts';
import { namesIn } from '../system/files.ts';
import { resultOr } from '../system/result-or.ts';
import { isSelfContained, type Workload } from '../workload/workload.ts';
import { INBOX } from './source.ts';

/** End of the names of these files. */
export const MISSES = '.misses.gz';

/** Limits of a file: its bytes, and the bytes of its lines. */
const [LARGEST_FILE, LARGEST_TEXT] = [2 ** 20, 2 ** 24];

/** A publisher without a fleet removes misses of this age, in milliseconds. */
const OLD_MS = 30 * 24 * 3_600_000;

export interface MissLine {
  readonly type: 'miss';
  readonly version: 1;
  readonly target: string;
  readonly compiler: string;
  /** The class of the device; its key if it has none. */
  readonly device: string;
  readonly workload: string;
  readonly form: Workload;
  readonly count: number;
}

/** The misses in a database since an instant. A job describes only self-contained workloads. */
export async function missLines(database: string, since: string): Promise<MissLine[]> {
  using store = await openStore(database, { readonly: true });
  return store.misses().flatMap((miss): MissLine[] => {
    const { target, compiler, device, workload, count, lastSeenAt } = miss;
    const subject = lastSeenAt < since ? undefined : store.subject(miss);
    if (subject === undefined || !isSelfContained(subject.workloadForm)) return [];
    const place = { target, compiler, device: classOr(device, subject.deviceForm) };
    return [{ type: 'miss', version: 1, ...place, workload, form: subject.workloadForm, count }];
  });
}

/** Reads the files of misses in an inbox, which anybody may have written. @returns their values, and a function that removes the files */
export function missesIn(folder: string): { readonly values: unknown[]; readonly remove: () => void } {
  const paths = missFiles(folder);
  const values = paths.flatMap((path) =>
    resultOr(() => {
      const status = lstatSync(path);
      // A link or a pipe may lead anywhere.
      if (!status.isFile() || status.size > LARGEST_FILE) return [];
      const text = gunzipSync(readFileSync(path), { maxOutputLength: LARGEST_TEXT }).toString();
      return text.split('\n').flatMap((line) => resultOr(() => [JSON.parse(line) as unknown], []));
    }, []),
  );
  return {
    values,
    remove: () => {
      for (const path of paths) rmSync(path, { force: true });
    },
  };
}

/** Removes misses that no publisher with a fleet wanted. */
export function removeOldMisses(folder: string): void {
  for (const path of missFiles(folder)) {
    const status = statSync(path, { throwIfNoEntry: false });
    if (status !== undefined && Date.now() - status.mtimeMs > OLD_MS) rmSync(path, { force: true });
  }
}

const missFiles = (folder: string): string[] =>
  namesIn(join(folder, INBOX))
    .filter((name) => name.endsWith(MISSES))
    .map((name) => join(folder, INBOX, name));
