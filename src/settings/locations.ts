// Default locations of the user's files.
import { userInfo } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { attempt } from '../system/attempt.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The user's home directory: `HOME`, else from the system. It is `/` for a user without one, as in containers. Nothing can be written there,
 * so builds go on without tuning.
 */
export function homeDirectory(env: Environment): string {
  const home = env['HOME'];
  return home !== undefined && isAbsolute(home) ? home : attempt(() => userInfo().homedir || '/', '/');
}

/** Path of the user's SQLite database. */
export const defaultDatabasePath = (env: Environment, platform: NodeJS.Platform, home: string): string =>
  join(folderOf(env['XDG_DATA_HOME'], platform, home, '.local/share', APPLICATION_SUPPORT), 'tuning.db');

/** The cache folder. It need not exist. */
export const defaultCacheDirectory = (env: Environment, platform: NodeJS.Platform, home: string): string =>
  folderOf(env['XDG_CACHE_HOME'], platform, home, '.cache', 'Library/Caches');

/** Path of the user's settings file. */
export const userSettingsPath = (env: Environment, platform: NodeJS.Platform, home: string): string =>
  join(folderOf(env['XDG_CONFIG_HOME'], platform, home, '.config', APPLICATION_SUPPORT), 'config.json');

/** Settings for all users of a machine. */
export const SYSTEM_SETTINGS_PATH = '/etc/iree-tuned/config.json';

const APPLICATION_SUPPORT = 'Library/Application Support';

function folderOf(
  xdg: string | undefined,
  platform: NodeJS.Platform,
  home: string,
  usual: string,
  onMac: string,
): string {
  // The XDG specification says to ignore relative paths.
  const base = xdg !== undefined && isAbsolute(xdg) ? xdg : join(home, platform === 'darwin' ? onMac : usual);
  return join(base, 'iree-tuned');
}
