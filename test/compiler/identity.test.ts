import { join } from 'node:path';
import { expect, test } from 'vitest';
import { compilerIdentity } from '../../src/compiler/identity.ts';
import { temporaryDirectory } from '../support/folders.ts';
import { write } from './support.ts';

test('a compiler is another one with another library beside its executable', () => {
  const directory = temporaryDirectory();
  const path = write(join(directory, 'bin/iree-compile'), 'one');
  const library = process.platform === 'darwin' ? 'libIREECompiler.dylib' : 'libIREECompiler.so';
  for (const place of ['bin', 'lib']) {
    const before = compilerIdentity(path);
    write(join(directory, place, library), 'x');
    expect(compilerIdentity(path)).not.toBe(before);
  }
});

test('a compiler that cannot be seen is told by its path', () => {
  expect(compilerIdentity('/nowhere/iree-compile')).toBe('/nowhere/iree-compile');
});
