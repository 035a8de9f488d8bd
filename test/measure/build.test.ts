import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { buildCandidates } from '../../src/measure/build.ts';
import { temporaryDirectory } from '../support/folders.ts';
import { toolchain } from '../support/real-tools.ts';
import { matmul } from '../support/workloads.ts';

test('candidates that fail only together are given up, also after one of them was refused by name', async () => {
  const folder = temporaryDirectory();
  const compiler = join(folder, 'iree-compile');
  writeFileSync(
    compiler,
    `#!/bin/sh
echo run >>${folder}/runs
for argument do
  case $argument in *.mlir) source=$argument ;; esac
  output=$argument
done
line=$(sed -n '/@refused/=' "$source")
[ -z "$line" ] || { echo "$source:$line:1: error: not this one" >&2; exit 1; }
[ "$(grep -c func.func "$source")" -eq 1 ] || exit 1
echo module >"$output"
`,
  );
  chmodSync(compiler, 0o755);
  const candidates = ['a', 'refused', 'b'].map((name) => ({ name, attribute: 'some = 1' }));
  const tools = { ...(await toolchain(folder)), compiler };
  const { module, refused } = await buildCandidates(tools, matmul(8, 8, 8), candidates, 'batch');
  expect(module).toBeNull();
  expect(refused.get('refused')).toBe('not this one');
  expect([...refused.keys()].sort()).toEqual(['a', 'b', 'refused']);
  expect(readFileSync(join(folder, 'runs'), 'utf8').split('\n').length).toBeLessThan(12);
});
