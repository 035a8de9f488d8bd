import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Folder of the installed package: the sources lie two levels below it, and so do the bundles. */
export const packageRoot = join(import.meta.dirname, '../..');

/** The package's version, as `package.json` says it. */
export function packageVersion(): string {
  const { version } = JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8')) as {
    version: string;
  };
  return version;
}
