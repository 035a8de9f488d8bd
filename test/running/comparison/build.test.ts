// Builds for a comparison, with scripts in place of the compiler.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { build, buildTuned } from '../../../src/running/comparison/build.ts';
import { temporaryDirectory } from '../../support/folders.ts';

const folder = temporaryDirectory();
const module = join(folder, 'out.vmfb');

function compiler(script: string): string {
  const path = join(folder, 'compiler');
  writeFileSync(path, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  return path;
}

const built = (script: string, argv = ['in.mlir']) =>
  build({ compiler: compiler(script), argv, limitSeconds: 2 }, module);

test('a build has no error, and drops flags that write files', async () => {
  const argv = ['in.mlir', '--iree-hal-dump-executable-files-to=dumps', '--flag'];
  expect(await built(`echo "$*" >'${module}'`, argv)).toMatchObject({ error: null });
  expect(readFileSync(module, 'utf8')).toBe(`in.mlir --flag -o ${module}\n`);
});

test.each([
  ['of an error', 'echo "note" >&2; echo "a.mlir:1:1: error: no" >&2; exit 1', 'a.mlir:1:1: error: no'],
  ['of a crash', 'kill -SEGV $$', 'ended by SIGSEGV'],
  ['of success without a module', 'exit 0', 'the compiler wrote no module'],
  ['of too much time', 'sleep 60', 'it takes more than 2 s'],
  [
    'of too much memory',
    'echo "LLVM ERROR: out of memory" >&2; exit 1',
    "it takes more than half of this machine's memory",
  ],
])('a build that fails has the reason: %s', async (_, script, error) => {
  expect(await built(`rm -f '${module}'; ${script}`)).toMatchObject({ error });
});

test('a tuned build has the explain JSON if there is one', async () => {
  const tuned = (script: string) =>
    buildTuned(
      { compiler: compiler(script), argv: [], env: { IREE_TUNED_DB: 'x' }, limitSeconds: 9 },
      module,
    );
  const text = `touch '${module}'; echo "{\\"route\\": \\"$IREE_TUNED_DB\\"}" >"$IREE_TUNED_EXPLAIN"`;
  expect(await tuned(text)).toMatchObject({ error: null, explanation: { route: 'x' } });
  expect(existsSync(module)).toBe(true);
  expect(await tuned('rm "$IREE_TUNED_EXPLAIN"; exit 1')).toMatchObject({ explanation: null });
});
