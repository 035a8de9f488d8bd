// Queries of the file system, and a removal, that never throw.
import {
  closeSync,
  existsSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  realpathSync,
  rmSync,
  statSync,
  type BigIntStats,
} from 'node:fs';
import { resultOr } from './result-or.ts';

/** The first `length` bytes of a file as Latin-1; `''` for an unreadable file. */
export function readHead(path: string, length = 1024): string {
  let file: number | undefined;
  try {
    file = openSync(path, 'r');
    const bytes = Buffer.allocUnsafe(length);
    return bytes.toString('latin1', 0, readSync(file, bytes, 0, length, 0));
  } catch {
    return '';
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

/** Names in a folder; none for an unreadable folder. */
export const namesIn = (folder: string): string[] => resultOr(() => readdirSync(folder), []);

/** The text of a file; empty for an unreadable file. A missing one costs no error, whose first use takes long in a hit. */
export const textIn = (path: string): string =>
  existsSync(path) ? resultOr(() => readFileSync(path, 'utf8'), '') : '';

/** Lines of a text file; one empty line for an unreadable file. */
export const linesIn = (path: string): string[] => textIn(path).split('\n');

/** The value in a JSON file; undefined for an unreadable or invalid file. */
export const readJson = (path: string): unknown =>
  resultOr(() => JSON.parse(readFileSync(path, 'utf8')) as unknown, undefined);

/** Removes a file or folder, unless the system refuses. */
export const removeIfPossible = (path: string): void =>
  resultOr(() => {
    rmSync(path, { recursive: true, force: true });
  }, undefined);

/** Whether the path leads to a regular file with an execute bit. */
export const isExecutableFile = (path: string): boolean =>
  resultOr(() => {
    const stat = statSync(path, { throwIfNoEntry: false });
    return stat !== undefined && stat.isFile() && (stat.mode & 0o111) !== 0;
  }, false);

/** The real path; the path itself if it does not exist. */
export const realpathOr = (path: string): string => resultOr(() => realpathSync(path), path);

/** A description of a file's real path and status; null for an invisible file. */
const describe = <T>(path: string, of: (real: string, status: BigIntStats) => T): T | null =>
  resultOr(() => {
    const real = realpathSync(path);
    return of(real, statSync(real, { bigint: true }));
  }, null);

/** Real path, size and modification time in nanoseconds, which change when a file is replaced; null for an invisible file. */
export const fileIdentity = (path: string): string | null => describe(path, changing);

const changing = (real: string, { size, mtimeNs }: BigIntStats) => `${real} ${size} ${mtimeNs}`;

/** `fileIdentity` with the change time, which programs cannot set, and the inode. */
export const lastingIdentity = (path: string): string | null => describe(path, lasting);

const lasting = (real: string, { size, mtimeNs, ctimeNs, ino }: BigIntStats) =>
  `${real} ${size} ${mtimeNs} ${ctimeNs} ${ino}`;

/** Resolution of file times in milliseconds, with a margin. */
const SETTLED_MS = 2000;

/** State of a file at one moment. */
export interface FileState {
  /** `lastingIdentity` with the device, which gets another number at each start of a container. */
  readonly identity: string;
  /** Whether the file is unchanged for two seconds. A second change within that time may have the same time stamp. */
  readonly isSettled: boolean;
}

/** Null for an invisible file. */
export const fileState = (path: string): FileState | null =>
  describe(path, (real, status) => ({
    identity: `${lasting(real, status)} ${status.dev}`,
    isSettled: Math.abs(Date.now() - Number(status.ctimeMs)) >= SETTLED_MS,
  }));

/** The identity of a settled file, which changes with its content; null for other files. */
export const settledIdentity = (path: string): string | null => settled(fileState(path));

/** The identity of a settled state, else null. */
export const settled = (state: FileState | null): string | null =>
  state?.isSettled === true ? state.identity : null;

/** States of files at one moment: `fileIdentity`, or null for a missing, invisible or empty file. */
export type Stamps = readonly (readonly [path: string, identity: string | null])[];

export const stampsOf = (paths: readonly string[]): Stamps => paths.map((path) => [path, stampOf(path)]);

/** Whether all files are as they were. */
export const isUnchanged = (stamps: Stamps): boolean =>
  stamps.every(([path, identity]) => stampOf(path) === identity);

/** SQLite leaves an empty log behind. */
const stampOf = (path: string): string | null =>
  describe(path, (real, status) => (status.size === 0n ? null : changing(real, status)));

/** A file that may go. */
export interface OldFile {
  readonly path: string;
  readonly bytes: number;
  /** Time of its last use. */
  readonly usedMs: number;
}

/** Removes the least recently used files until the rest fits into `limit` bytes. */
export function removeOldest(files: readonly OldFile[], limit: number): void {
  let left = files.reduce((sum, { bytes }) => sum + bytes, 0);
  for (const { path, bytes } of files.toSorted((a, b) => a.usedMs - b.usedMs)) {
    if (left <= limit) return;
    rmSync(path, { force: true });
    left -= bytes;
  }
}
