// Cleans up after each test file. Files share a worker and its modules, so a module that loads once cannot register the clean-up.
import { afterAll } from 'vitest';
import { removeTemporaryDirectories } from './folders.ts';

afterAll(removeTemporaryDirectories);
