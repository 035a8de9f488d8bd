// Where the files of the user lie when nobody says otherwise.
import { userInfo } from 'node:os';
import { isAbsolute, join } from 'node:path';

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The user's home directory: `HOME`, else what the system says. For a user without one it is `/`, as in containers:
 * then nothing can be written there, and builds go on without tuning.
 */
export function homeDirectory(env: Environment): string {
  const home = env['HOME'];
  if (home !== undefined && isAbsolute(home)) return home;
  try {
    return userInfo().homedir || '/';
  } catch {
    return '/';
  }
}

/** Path of the user's own SQLite database. */
export const defaultDatabasePath = (env: Environment, platform: NodeJS.Platform, home: string): string =>
  join(folderOf(env['XDG_DATA_HOME'], platform, home, '.local/share', APPLICATION_SUPPORT), 'tuning.db');

/** The directory of everything that can be made again. It need not exist. */
export const defaultCacheDirectory = (env: Environment, platform: NodeJS.Platform, home: string): string =>
  folderOf(env['XDG_CACHE_HOME'], platform, home, '.cache', 'Library/Caches');

/** Path of the user's own settings file. */
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
  // The XDG specification has relative paths ignored.
  const base = xdg !== undefined && isAbsolute(xdg) ? xdg : join(home, platform === 'darwin' ? onMac : usual);
  return join(base, 'iree-tuned');
}
