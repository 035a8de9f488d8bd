import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Root folder of the installed package: sources and bundles lie two levels below. */
export const packageRoot = join(import.meta.dirname, '../..');

export function packageVersion(): string {
  const { version } = JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8')) as {
    version: string;
  };
  return version;
}

/**
 * Arguments of Node that run `entry.ts` of a folder: of the bundle, or else of the sources.
 * @param root folder of the installed package
 */
export function entryOf(folder: string, root = packageRoot): readonly string[] {
  const bundled = join(import.meta.dirname, `${folder}.cjs`);
  return existsSync(bundled) ? [bundled] : ['--conditions=source', join(root, 'src', folder, 'entry.ts')];
}
