// The browser for tests.
import { existsSync } from 'node:fs';

export const BROWSER = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(
  (path) => existsSync(path),
);

/** Why there is no browser; null if there is one. */
export const noBrowser =
  BROWSER === undefined ? 'chromium is not installed (apt-get install chromium)' : null;
