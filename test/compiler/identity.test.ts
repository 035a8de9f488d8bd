import { join } from 'node:path';
import { expect, test } from 'vitest';
import { compilerIdentity } from '../../src/compiler/identity.ts';
import { temporaryDirectory } from '../support/folders.ts';
import { write } from './support.ts';

test('another library beside the executable changes the identity', () => {
  const directory = temporaryDirectory();
  const path = write(join(directory, 'bin/iree-compile'), 'one');
  const library = process.platform === 'darwin' ? 'libIREECompiler.dylib' : 'libIREECompiler.so';
  for (const place of ['bin', 'lib']) {
    const before = compilerIdentity(path);
    write(join(directory, place, library), 'x');
    expect(compilerIdentity(path)).not.toBe(before);
  }
});

test('the identity of an invisible compiler is its path', () => {
  expect(compilerIdentity('/nowhere/iree-compile')).toBe('/nowhere/iree-compile');
});
