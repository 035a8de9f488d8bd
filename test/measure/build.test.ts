import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { buildCandidates } from '../../src/measure/build.ts';
import { truthOf } from '../../src/measure/candidate-module.ts';
import { temporaryDirectory } from '../support/folders.ts';
import { toolchain } from '../support/real-tools.ts';
import { matmul } from '../support/workloads.ts';
import { casesOfTier } from '../support/needs.ts';

/** Tools with a compiler that writes its output unless the shell text `checks` exits on "$source", and its number of compiles of candidates. */
async function toolsWith(checks: string) {
  const folder = temporaryDirectory();
  const compiler = join(folder, 'iree-compile');
  writeFileSync(
    compiler,
    `#!/bin/sh
for argument do
  case $argument in *.mlir) source=$argument ;; esac
  output=$argument
done
if ! grep -q '^module @fillers' "$source"; then
  echo run >>${folder}/runs
  ${checks}
fi
echo module >"$output"
`,
    { mode: 0o755 },
  );
  const runs = () => readFileSync(join(folder, 'runs'), 'utf8').trim().split('\n').length;
  return { tools: { ...(await toolchain(folder)), compiler }, runs };
}

test('candidates that fail only together are built in part, and none is refused', async () => {
  const { tools, runs } = await toolsWith(
    `line=$(sed -n '/@refused/=' "$source")
[ -z "$line" ] || { echo "$source:$line:1: error: not this one" >&2; exit 1; }
[ "$(grep -c func.func "$source")" -eq 1 ] || exit 1`,
  );
  const candidates = ['a', 'refused', 'b'].map((name) => ({ name, attribute: 'some = 1' }));
  const { module, built, refused } = await buildCandidates(tools, matmul(8, 8, 8), candidates, 'batch');
  expect(module).not.toBeNull();
  expect(built.map(({ name }) => name)).toEqual(['a']);
  expect([...refused]).toEqual([['refused', 'not this one']]);
  expect(runs()).toBeLessThan(11);
});

describe('a candidate that the compiler', () => {
  const stock = { name: 'stock', attribute: null };
  const candidates = [0, 1, 2].map((i) => ({ name: `c${i}`, attribute: 'some = 1' }));

  const failures: [string, string][] = [
    ['crashes at', 'kill -SEGV $$'],
    ['hangs at', 'exec sleep 600'],
  ];
  test.each(casesOfTier(failures, 1))('%s is refused, and others are built in time', async (_, failure) => {
    const { tools } = await toolsWith(`! grep -q '@c1(' "$source" || { ulimit -c 0; ${failure}; }`);
    const begun = performance.now();
    const build = await buildCandidates(tools, matmul(8, 8, 8), [stock, ...candidates], 'batch', 60);
    expect((performance.now() - begun) / 1000).toBeLessThan(60);
    expect([...build.refused.keys()]).toEqual(['c1']);
    expect(build.built.map(({ name }) => name)).toContain('stock');
    expect(build.built.length).toBeGreaterThanOrEqual(2);
  });

  test('hangs at is not refused if the time-out is too short', async () => {
    const { tools } = await toolsWith(`! grep -q '@c1(' "$source" || exec sleep 600`);
    const build = await buildCandidates(tools, matmul(8, 8, 8), [stock, ...candidates], 'batch', 1);
    expect(build.refused.size).toBe(0);
  });
});

test.each([
  ['by name', 'echo "$source:$line:1: error: no f32" >&2; exit 1', 'no f32', 2],
  ['by a crash', 'exit 139', 'the compiler failed without naming a location', 5],
])('a truth that is refused %s costs no candidate', async (_, failure, reason, compiles) => {
  const { tools, runs } = await toolsWith(
    `line=$(sed -n '/@truth/=' "$source")
[ -z "$line" ] || { ${failure}; }`,
  );
  const shape = matmul(8, 8, 8, ['bf16', 'bf16', 'bf16']);
  const candidates = [
    { name: 'stock', attribute: null },
    { name: 'f0', attribute: 'some = 1' },
  ];
  const build = await buildCandidates(tools, shape, [...candidates, ...truthOf(shape)], 'batch');
  expect(build.module).not.toBeNull();
  expect(build.built).toEqual(candidates);
  expect([...build.refused]).toEqual([['truth', reason]]);
  expect(runs()).toBe(compiles);
});
