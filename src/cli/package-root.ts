import { join } from 'node:path';

/** Folder of the installed package: the bundles lie one level below it, the sources two. */
export const packageRoot = join(import.meta.dirname, import.meta.dirname.endsWith('dist') ? '..' : '../..');
