// Settings files: where they are looked for, and what stands in them.
import { lstatSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
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

/** The name of a project's file; it holds for the folder that it lies in and all below. */
export const PROJECT_FILE = '.iree-tuned.json';

/** The name of a lock file; it is looked for like a project's file, and not above that. */
export const LOCK_FILE = 'iree-tuned.lock';

/** The files that count, first the one that wins. Never throws: what cannot be read is not there. */
export function readSettingsFiles(
  env: Readonly<Record<string, string | undefined>>,
  platform: NodeJS.Platform,
  home: string,
): SettingsFile[] {
  return [
    readProjectFile(),
    readFile('user', userSettingsPath(env, platform, home)),
    readFile('system', SYSTEM_SETTINGS_PATH),
  ];
}

/** The nearest one, from the working directory upwards. */
function readProjectFile(): SettingsFile {
  const start = workingDirectory();
  for (let folder = start; ; folder = dirname(folder)) {
    const file = readFile('project', join(folder, PROJECT_FILE));
    if (file.text !== null || file.problem !== null) return file;
    if (folder === dirname(folder)) return { ...file, path: join(start, PROJECT_FILE) };
  }
}

/** The folder of the project's file; null where there is none. */
export const projectFolder = (files: readonly SettingsFile[]): string | null => {
  const file = files.find(({ layer }) => layer === 'project');
  return file === undefined || (file.text === null && file.problem === null) ? null : dirname(file.path);
};

/**
 * The nearest lock file, from the working directory upwards, whatever it is; null where there is none.
 * @param project the folder above which it belongs to somebody else; null for none
 */
export function findLockFile(project: string | null): string | null {
  for (let folder = workingDirectory(); ; folder = dirname(folder)) {
    const path = join(folder, LOCK_FILE);
    if (isThere(path)) return path;
    if (folder === project || folder === dirname(folder)) return null;
  }
}

function isThere(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    // A folder that may not be looked into.
    return false;
  }
}

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
    return { layer, path, text: readFileSync(path, 'utf8'), problem: null };
  } catch (error) {
    return { layer, path, text: null, problem: (error as NodeJS.ErrnoException).code ?? String(error) };
  }
}

/** Path without links of what is there, or of what would be made there; null when that cannot be known. */
export function realPath(path: string): string | null {
  try {
    return realpathSync(path);
  } catch {
    try {
      // A link to what is not there yet leads anywhere.
      if (lstatSync(path, { throwIfNoEntry: false }) !== undefined) return null;
    } catch {
      return null;
    }
    const parent = path === dirname(path) ? null : realPath(dirname(path));
    return parent === null ? null : join(parent, basename(path));
  }
}
