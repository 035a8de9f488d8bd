// Default locations of the user's files.
import { userInfo } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { resultOr } from '../system/result-or.ts';

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
