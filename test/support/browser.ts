// The browser of the tests that need one.
import { existsSync } from 'node:fs';

export const BROWSER = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(
  (path) => existsSync(path),
);

/** Why there is none; null if there is one. */
export const noBrowser =
  BROWSER === undefined ? 'chromium is not installed (apt-get install chromium)' : null;
