// Where the tuning database lives when nobody says otherwise.
import { isAbsolute, join } from 'node:path';

/** Path of the user's own SQLite database. `home` is the user's home directory, as `os.homedir()` gives it. */
export function defaultDatabasePath(
  env: Readonly<Record<string, string | undefined>>,
  platform: NodeJS.Platform,
  home: string,
): string {
  return join(dataHome(env['XDG_DATA_HOME'], platform, home), 'iree-tuned', 'tuning.db');
}

function dataHome(xdg: string | undefined, platform: NodeJS.Platform, home: string): string {
  // The XDG specification has relative paths ignored.
  if (xdg !== undefined && isAbsolute(xdg)) return xdg;
  return platform === 'darwin' ? join(home, 'Library', 'Application Support') : join(home, '.local', 'share');
}
