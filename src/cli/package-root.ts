import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Folder of the installed package: the bundles lie one level below it, the sources two. */
export const packageRoot = join(import.meta.dirname, import.meta.dirname.endsWith('dist') ? '..' : '../..');

/** The package's version, as `package.json` says it. */
export function packageVersion(): string {
  const { version } = JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8')) as {
    version: string;
  };
  return version;
}
