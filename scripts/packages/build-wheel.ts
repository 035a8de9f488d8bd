// `npm run build:wheel [-- PLATFORM...]`: writes one wheel for each platform to wheels/. Any machine can build all, because better-sqlite3
// includes binaries for all platforms.
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './files.ts';
import { PLATFORMS, type Platform } from './platforms.ts';
import { pythonPackage } from './python-package.ts';
import { wheelFileName, writeWheel } from './wheel.ts';

/** Writes the wheels, and removes old ones, which `pip --find-links` could choose. Returns the paths. */
export function buildWheels(folder: string, platforms: readonly Platform[] = PLATFORMS): string[] {
  mkdirSync(folder, { recursive: true });
  for (const name of readdirSync(folder)) if (name.endsWith('.whl')) rmSync(join(folder, name));
  return platforms.map((platform) => {
    const wheel = pythonPackage(platform);
    const path = join(folder, wheelFileName(wheel));
    writeFileSync(path, writeWheel(wheel));
    return path;
  });
}

if (import.meta.main) {
  const asked = process.argv.slice(2);
  const unknown = asked.find((name) => !PLATFORMS.some((platform) => platform.name === name));
  if (unknown !== undefined) {
    const names = PLATFORMS.map(({ name }) => name).join(', ');
    process.stderr.write(`build:wheel: unknown platform ${unknown}: choose from ${names}\n`);
    process.exitCode = 1;
  } else {
    const chosen = PLATFORMS.filter(({ name }) => asked.length === 0 || asked.includes(name));
    for (const path of buildWheels(join(root, 'wheels'), chosen)) console.log(path);
  }
}
