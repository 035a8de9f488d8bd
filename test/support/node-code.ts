// What Node makes of our source files, kept: a child process of a test starts in half the time.
import { join } from 'node:path';
import { root } from './folders.ts';

/** For the environment of child processes that run the source. */
export const NODE_CODE = { NODE_COMPILE_CACHE: join(root, 'node_modules', '.cache', 'node-code') };
