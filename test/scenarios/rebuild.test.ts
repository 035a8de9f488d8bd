// The package is built again while builds of its users run.
import { spawn } from 'node:child_process';
import { cpSync, existsSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { program } from '../compiler/support.ts';
import { temporaryDirectory } from '../support/folders.ts';
import { Installation } from '../support/installation.ts';
import { root } from '../support/real-tools.ts';

/** An installation that can be built, each time to something else. */
function buildable() {
  const installation = new Installation();
  for (const path of ['src', 'scripts', 'grammar/src', 'grammar/operations.json'])
    cpSync(join(root, path), installation.path(path), { recursive: true });
  let turn = 0;
  const build = async () => {
    writeFileSync(installation.path('src/turn'), String(turn++));
    expect(await run(process.execPath, ['scripts/build.mjs'], installation.folder)).toBe(0);
  };
  return { installation, build };
}

function run(file: string, argv: readonly string[], cwd: string, env = process.env): Promise<number | null> {
  const child = spawn(file, argv, { cwd, env, stdio: 'ignore' });
  return new Promise((resolve, reject) => child.on('error', reject).on('close', resolve));
}

test('every compile meanwhile finds all of one build', { timeout: 300_000 }, async () => {
  const { installation, build } = buildable();
  const folder = temporaryDirectory();
  const compiler = program(join(folder, 'iree-compile'), 'exit 3');
  const loaded = join(folder, 'loaded');
  const hook = join(folder, 'hook.cjs');
  writeFileSync(
    hook,
    `process.on('exit', () => {
      const files = Object.keys(require.cache).filter((file) => file.includes('/dist/'));
      if (files.length > 0) require('node:fs').appendFileSync(${JSON.stringify(loaded)}, files.join(' ') + '\\n');
    });`,
  );
  const compile = async (n: number) => {
    const explanation = join(folder, `explanation-${n}`);
    const code = await run(installation.launcher, ['in.mlir', '-o', 'out.vmfb'], folder, {
      ...process.env,
      NODE_OPTIONS: `--require=${hook}`,
      IREE_TUNED_COMPILER: compiler,
      IREE_TUNED_CACHE: join(folder, 'cache'),
      IREE_TUNED_EXPLAIN: explanation,
    });
    // Without it the launcher has run the compiler.
    expect({ n, code, isOurs: existsSync(explanation) }).toEqual({ n, code: 3, isOurs: true });
  };

  let compiles = 0;
  let isBuilding = true;
  const builds = (async () => {
    for (let i = 0; i < 4; i++) await build();
    isBuilding = false;
  })();
  const user = async () => {
    while (isBuilding) await compile(compiles++);
  };
  await Promise.all([builds, user(), user()]);

  const runs = readFileSync(loaded, 'utf8').trim().split('\n');
  expect(runs).toHaveLength(compiles);
  const folders = runs.map((line) => line.split(' ').map(dirname));
  for (const both of folders) expect(both).toEqual([both[0], both[0]]);
  expect(new Set(folders.flat()).size).toBeGreaterThan(2);
});

test('a build is left to who uses it, and goes when nobody does any more', async () => {
  const { installation, build } = buildable();
  const builds = () => readdirSync(installation.path('dist')).filter((name) => name !== 'current');
  const [given] = builds();
  await build();
  await build();
  expect(builds()).toHaveLength(3);
  expect(builds()).toContain(given);
  const twoDaysAgo = Date.now() / 1000 - 2 * 24 * 3600;
  for (const name of builds()) utimesSync(installation.path(`dist/${name}`), twoDaysAgo, twoDaysAgo);
  await build();
  // The one that was replaced just now may be in use.
  expect(builds()).toHaveLength(2);
  expect(builds()).not.toContain(given);
});

test('a build that comes to the same changes nothing, unless something is damaged', async () => {
  const { installation } = buildable();
  const build = () => run(process.execPath, ['scripts/build.mjs'], installation.folder);
  const builds = () => readdirSync(installation.path('dist'));
  expect(await build()).toBe(0);
  const first = builds();
  expect(await build()).toBe(0);
  expect(builds()).toEqual(first);
  writeFileSync(installation.path('dist/current/compile-tuned.cjs'), '');
  expect(await build()).toBe(0);
  expect(readFileSync(installation.path('dist/current/compile-tuned.cjs')).length).toBeGreaterThan(1000);
});
