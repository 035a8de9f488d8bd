import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Root folder of the installed package: sources and bundles lie two levels below. */
export const packageRoot = join(import.meta.dirname, '../..');

/** The version in `package.json`. */
export function packageVersion(): string {
  const { version } = JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8')) as {
    version: string;
  };
  return version;
}
