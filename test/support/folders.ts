// The package's folder, and temporary folders. They are removed after the test file, or without vitest when the process ends.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export const root = join(import.meta.dirname, '..', '..');

const directories: string[] = [];

/** Called after each test file, by each-file.ts. */
export function removeTemporaryDirectories(): void {
  for (const directory of directories.splice(0)) rmSync(directory, { recursive: true, force: true });
}
if (process.env['VITEST'] === undefined) process.on('exit', removeTemporaryDirectories);

export function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'iree-tuned-test-'));
  directories.push(directory);
  return directory;
}
