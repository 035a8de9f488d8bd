// Node's compile cache for our source files, which halves the start of a test's child processes.
import { join } from 'node:path';
import { root } from './folders.ts';

/** For the environment of child processes that run the source. */
export const NODE_CODE = { NODE_COMPILE_CACHE: join(root, 'node_modules', '.cache', 'node-code') };
