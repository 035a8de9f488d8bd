// A folder for the modules of one tuning run, and the end of those that a killed process left behind.
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

/** A new empty folder, named after this process. */
export function makeWorkDirectory(cacheDirectory: string): string {
  const parent = join(cacheDirectory, 'work');
  mkdirSync(parent, { recursive: true });
  removeAbandoned(parent);
  return mkdtempSync(join(parent, `${process.pid}-`));
}

function removeAbandoned(parent: string): void {
  for (const name of readdirSync(parent)) {
    const pid = Number.parseInt(name, 10);
    if (Number.isInteger(pid) && !isAlive(pid)) rmSync(join(parent, name), { recursive: true, force: true });
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
