// Settings files: where they are looked for, and their content.
import { lstatSync, readFileSync, realpathSync, statSync, type Stats } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { readHead } from '../system/files.ts';
import { isOwn } from '../system/trust.ts';
import { SYSTEM_SETTINGS_PATH, userSettingsPath } from './locations.ts';

export type FileLayer = 'project' | 'user' | 'system';

export interface SettingsFile {
  readonly layer: FileLayer;
  readonly path: string;
  /** Null when there is no such file, and when it cannot be read. */
  readonly text: string | null;
  /** Why it cannot be read, though something is there; null otherwise. */
  readonly problem: string | null;
}

/** The name of a project's file; it holds for the folder that it lies in and for all folders below. */
export const PROJECT_FILE = '.iree-tuned.json';

/** The name of a lock file; it is looked for like a project's file, and not above that. */
export const LOCK_FILE = 'iree-tuned.lock';

/** The files that count, the winning one first. Never throws: an unreadable file counts as missing. */
export function readSettingsFiles(
  env: Readonly<Record<string, string | undefined>>,
  platform: NodeJS.Platform,
  home: string,
): SettingsFile[] {
  return [
    readProjectFile(home),
    readFile('user', userSettingsPath(env, platform, home)),
    readFile('system', SYSTEM_SETTINGS_PATH),
  ];
}

/** The nearest one, from the working directory upwards. */
function readProjectFile(home: string): SettingsFile {
  const folders = searchedFolders(home);
  for (const folder of folders) {
    const file = readFile('project', join(folder, PROJECT_FILE));
    if (file.text !== null || file.problem !== null) return file;
  }
  return { layer: 'project', path: join(folders[0]!, PROJECT_FILE), text: null, problem: null };
}

/**
 * The working directory, and the folders above it as far as they can be one project: up to the home folder, on one file system, and
 * not into a folder of another user.
 */
function searchedFolders(home: string): string[] {
  const start = workingDirectory();
  const folders = [start];
  const { dev } = statOr(start) ?? {};
  for (let folder = start; folder !== home && folder !== dirname(folder);) {
    folder = dirname(folder);
    const status = statOr(folder);
    if (status === null || status.dev !== dev || !isOwn(status)) break;
    folders.push(folder);
  }
  return folders;
}

function statOr(path: string): Stats | null {
  try {
    return statSync(path, { throwIfNoEntry: false }) ?? null;
  } catch {
    // A folder that may not be looked into.
    return null;
  }
}

/** The folder of the project's file; null where there is none. */
export const projectFolder = (files: readonly SettingsFile[]): string | null => {
  const file = files.find(({ layer }) => layer === 'project');
  return file === undefined || (file.text === null && file.problem === null) ? null : dirname(file.path);
};

/**
 * The nearest lock file, from the working directory upwards, readable or not; null if there is none, or if it belongs to another user,
 * which is a problem.
 * @param project the folder above which it belongs to another project; null for none
 */
export function findLockFile(
  project: string | null,
  home: string,
): { readonly path: string | null; readonly problem: string | null } {
  for (const folder of searchedFolders(home)) {
    const path = join(folder, LOCK_FILE);
    const status = statOr(path);
    if (status !== null && !isOwn(status))
      return { path: null, problem: `${path} is ignored: ${FOREIGN}; IREE_TUNED_LOCK names one to use` };
    if (status !== null) return { path, problem: null };
    if (folder === project) break;
  }
  return { path: null, problem: null };
}

const FOREIGN = 'it belongs to another user';

function workingDirectory(): string {
  try {
    return process.cwd();
  } catch {
    // It was removed.
    return '/';
  }
}

function readFile(layer: FileLayer, path: string): SettingsFile {
  try {
    const status = statSync(path, { throwIfNoEntry: false });
    if (status === undefined) return { layer, path, text: null, problem: null };
    // Reading a pipe would wait for ever.
    if (!status.isFile()) return { layer, path, text: null, problem: 'it is not a file' };
    if (!isOwn(status)) return { layer, path, text: null, problem: FOREIGN };
    return { layer, path, text: readFileSync(path, 'utf8'), problem: null };
  } catch (error) {
    return { layer, path, text: null, problem: (error as NodeJS.ErrnoException).code ?? String(error) };
  }
}

/** Path without links of an existing or a new file; null if it cannot be known. */
export function realPath(path: string): string | null {
  try {
    return realpathSync(path);
  } catch {
    try {
      // A dangling link may lead anywhere.
      if (lstatSync(path, { throwIfNoEntry: false }) !== undefined) return null;
    } catch {
      return null;
    }
    const parent = path === dirname(path) ? null : realPath(dirname(path));
    return parent === null ? null : join(parent, basename(path));
  }
}

/** Settings that name a file to be written. */
export type OutputName = 'explain' | 'log';

/** How files of this program begin. */
const BEGINNINGS: Readonly<Record<OutputName, RegExp>> = {
  explain: /^\{\n {2}"version": \d+,\n {2}"compiler": /,
  log: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z /,
};

/** Whether a file may be written without a loss: it is not there, it is empty, or this program has written it before. */
export function mayOverwrite(name: OutputName, path: string): boolean {
  const status = statOr(path);
  if (status === null || (status.isFile() && status.size === 0)) return true;
  return status.isFile() && BEGINNINGS[name].test(readHead(path, 64));
}
