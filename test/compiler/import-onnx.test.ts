import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { importOnnx, isOnnx } from '../../src/compiler/import-onnx.ts';
import { temporaryDirectory } from '../support/folders.ts';
import { program } from '../support/scripts.ts';

/** An installation with an importer that runs `deed`; null for no importer. */
function installed(deed: string | null) {
  const folder = temporaryDirectory();
  const [bin, cacheDirectory] = ['bin', 'cache'].map((name) => join(folder, name));
  if (deed !== null) program(join(bin!, 'iree-import-onnx'), deed);
  const place = { env: { PATH: '/usr/bin:/bin' }, root: folder, cacheDirectory: cacheDirectory! };
  return importOnnx(
    'models/Net.onnx',
    { executable: join(folder, 'libs', 'iree-compile'), invokedAs: join(bin!, 'iree-compile') },
    place,
  );
}

test('a file that ends in .onnx is a model', () => {
  expect(['a.onnx', 'B.ONNX', 'onnx', 'a.onnx.mlir'].map(isOnnx)).toEqual([true, true, false, false]);
});

test('the importer beside the compiler converts a model', async () => {
  const made = await installed('echo "$1" >"$3"');
  expect(made).toMatch(/\/Net\.mlir$/);
  expect(readFileSync(made, 'utf8')).toBe('models/Net.onnx\n');
});

test.each([
  [
    null,
    /^models\/Net\.onnx: an ONNX model needs iree-import-onnx, which is neither beside the compiler nor in PATH: pip install 'iree-base-compiler\[onnx\]', or convert/,
  ],
  ['echo "No module named \'onnx\'" >&2; exit 1', /it lacks the Python package onnx: pip install onnx$/],
  ['echo trace >&2; echo "no such opset" >&2; exit 1', /iree-import-onnx fails: no such opset$/],
])('a failing importer is an error with the reason: %s', async (deed, message) => {
  await expect(installed(deed)).rejects.toThrow(message);
});
