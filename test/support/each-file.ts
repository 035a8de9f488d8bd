// Around each test file: files share a worker and what they import, so a module that cleans up cannot do it as it is loaded.
import { afterAll } from 'vitest';
import { removeTemporaryDirectories } from './folders.ts';

afterAll(removeTemporaryDirectories);
