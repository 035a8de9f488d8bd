// Texts of executables in a folder of the compiler's dumps.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { symbolsOf } from 'mlir-parser-ts';

/** The files with exactly one executable, by its name. A name with `=` is left out, because no flag for substitutes can have it. */
export function executablesByName(folder: string): ReadonlyMap<string, Uint8Array> {
  const texts = new Map<string, Uint8Array>();
  for (const file of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!file.isFile()) continue;
    const text = readFileSync(join(file.parentPath, file.name));
    const [name, ...others] = symbolsOf(text, 'hal.executable');
    if (name?.includes('=') === false && others.length === 0) texts.set(name, text);
  }
  return texts;
}
