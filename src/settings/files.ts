// Locates and reads the user's files: settings and the lock file.
import { lstatSync, readFileSync, realpathSync, type Stats, statSync } from 'node:fs';
import { userInfo } from 'node:os';
import { basename, dirname, isAbsolute, join } from 'node:path';
import { readHead } from '../system/files.ts';
import { resultOr } from '../system/result-or.ts';
import { isOwn } from '../system/trust.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The user's home directory: `HOME`, else from the system. It is `/` for a user without one, as in containers. Nothing can be written there,
 * so builds go on without tuning.
 */
export function homeDirectory(env: Environment): string {
  const home = env['HOME'];
  return home !== undefined && isAbsolute(home) ? home : resultOr(() => userInfo().homedir || '/', '/');
}

/** Default paths of the user's SQLite database, cache folder and settings file. They need not exist. */
export function userPaths(
  env: Environment,
  platform: NodeJS.Platform,
  home: string,
): { readonly database: string; readonly cache: string; readonly settings: string } {
  const folderOf = (variable: string, usual: string, onMac: string) => {
    const xdg = env[variable];
    // The XDG specification says to ignore relative paths.
    if (xdg !== undefined && isAbsolute(xdg)) return join(xdg, 'iree-tuned');
    return join(home, platform === 'darwin' ? onMac : usual, 'iree-tuned');
  };
  return {
    database: join(folderOf('XDG_DATA_HOME', '.local/share', APPLICATION_SUPPORT), 'tuning.db'),
    cache: folderOf('XDG_CACHE_HOME', '.cache', 'Library/Caches'),
    settings: join(folderOf('XDG_CONFIG_HOME', '.config', APPLICATION_SUPPORT), 'config.json'),
  };
}

/** Settings for all users of a machine. */
export const SYSTEM_SETTINGS_PATH = '/etc/iree-tuned/config.json';

const APPLICATION_SUPPORT = 'Library/Application Support';

export type FileLayer = 'project' | 'user' | 'system';

export interface SettingsFile {
  readonly layer: FileLayer;
  readonly path: string;
  /** Null if the file does not exist or is unreadable. */
  readonly text: string | null;
  /** Why an existing file is unreadable; null otherwise. */
  readonly problem: string | null;
}

/** Name of a project's file, which applies to its folder and all folders below. */
export const PROJECT_FILE = '.iree-tuned.json';

/** Name of a lock file. The search for it ends at the folder of the project's file. */
export const LOCK_FILE = 'iree-tuned.lock';

/** Project's, user's and system's file, in order of precedence. Never throws. */
export const readSettingsFiles = (userFile: string, home: string): SettingsFile[] => [
  readProjectFile(home),
  readFile('user', userFile),
  readFile('system', SYSTEM_SETTINGS_PATH),
];

/** The nearest project's file, from the working directory upwards. */
function readProjectFile(home: string): SettingsFile {
  const folders = searchedFolders(home);
  for (const folder of folders) {
    const file = readFile('project', join(folder, PROJECT_FILE));
    if (file.text !== null || file.problem !== null) return file;
  }
  return { layer: 'project', path: join(folders[0]!, PROJECT_FILE), text: null, problem: null };
}

/** The working directory and its parents, up to the home folder, on one file system, and only folders of this user. */
function searchedFolders(home: string): string[] {
  // The working directory may be removed.
  const start = resultOr(() => process.cwd(), '/');
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

/** Null for a missing file, or without permission. */
const statOr = (path: string): Stats | null =>
  resultOr(() => statSync(path, { throwIfNoEntry: false }) ?? null, null);

/** Folder of the project's file; null without a file. */
export const projectFolder = (files: readonly SettingsFile[]): string | null => {
  const file = files.find(({ layer }) => layer === 'project');
  return file === undefined || (file.text === null && file.problem === null) ? null : dirname(file.path);
};

/**
 * The nearest lock file, from the working directory upwards, even if unreadable; null for none. A lock file of another user is a problem.
 * @param project the last folder of the search; null for no such limit
 */
export function findLockFile(
  project: string | null,
  home: string,
): { readonly path: string | null; readonly problem: string | null } {
  for (const folder of searchedFolders(home)) {
    const path = join(folder, LOCK_FILE);
    const status = statOr(path);
    if (status !== null && !isOwn(status))
      return { path: null, problem: `${path} is ignored: ${FOREIGN}; set IREE_TUNED_LOCK to use it` };
    if (status !== null) return { path, problem: null };
    if (folder === project) break;
  }
  return { path: null, problem: null };
}

const FOREIGN = 'it belongs to another user';

function readFile(layer: FileLayer, path: string): SettingsFile {
  try {
    const status = statSync(path, { throwIfNoEntry: false });
    if (status === undefined) return { layer, path, text: null, problem: null };
    // Reading a pipe could block for ever.
    if (!status.isFile()) return { layer, path, text: null, problem: 'it is not a file' };
    if (!isOwn(status)) return { layer, path, text: null, problem: FOREIGN };
    return { layer, path, text: readFileSync(path, 'utf8'), problem: null };
  } catch (error) {
    return { layer, path, text: null, problem: (error as NodeJS.ErrnoException).code ?? String(error) };
  }
}

/** Resolves links in the path of an existing or new file; null if it cannot. */
export function realPath(path: string): string | null {
  const found = resultOr(() => realpathSync(path), null);
  // A dangling link may lead anywhere.
  const isThere = () => resultOr(() => lstatSync(path, { throwIfNoEntry: false }) !== undefined, true);
  if (found !== null || isThere()) return found;
  const parent = path === dirname(path) ? null : realPath(dirname(path));
  return parent && join(parent, basename(path));
}

/** Settings that name an output file. */
export type OutputName = 'explain' | 'log';

/** The first bytes of files that this program writes. */
const BEGINNINGS: Readonly<Record<OutputName, RegExp>> = {
  explain: /^\{\n {2}"version": \d+,\n {2}"compiler": /,
  log: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z /,
};

/** Whether a write loses nothing: the file is missing, empty or an earlier output of this program. */
export function mayOverwrite(name: OutputName, path: string): boolean {
  const status = statOr(path);
  if (status === null || (status.isFile() && status.size === 0)) return true;
  return status.isFile() && BEGINNINGS[name].test(readHead(path, 64));
}
