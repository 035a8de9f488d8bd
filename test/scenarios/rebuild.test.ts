// The package is rebuilt while builds of its users run; see also builds-folder.test.ts.
// In full after a change of src/wrapper/replay.ts, src/wrapper/outputs.ts.
import { spawn } from 'node:child_process';
import { cpSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { makeCurrent } from '../../scripts/builds-folder.mjs';
import { program } from '../support/scripts.ts';
import { temporaryDirectory } from '../support/folders.ts';
import { Installation } from '../support/installation.ts';
import { root } from '../support/real-tools.ts';

function run(file: string, argv: readonly string[], cwd: string, env = process.env): Promise<number | null> {
  const child = spawn(file, argv, { cwd, env, stdio: 'ignore' });
  return new Promise((resolve, reject) => child.on('error', reject).on('close', resolve));
}

test('every compile meanwhile finds the complete files of one build', { tags: 'full' }, async () => {
  const installation = new Installation();
  for (const path of ['src', 'scripts', 'grammar/src', 'grammar/operations.json'])
    cpSync(join(root, path), installation.path(path), { recursive: true });
  writeFileSync(installation.path('src/changed'), '');
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
    // Without a counter the launcher has run the compiler directly.
    expect({ n, code, isOurs: existsSync(explanation) }).toEqual({ n, code: 3, isOurs: true });
  };

  let compiles = 0;
  let isBuilding = true;
  const builds = async () => {
    expect(await run(process.execPath, ['scripts/build.mjs'], installation.folder)).toBe(0);
    // A copy of the build under another name is quick, so that compiles meet many changes.
    const files = readdirSync(installation.path('dist/current')).map((name) => ({
      name,
      contents: readFileSync(installation.path(`dist/current/${name}`)),
    }));
    const before = compiles;
    for (let turn = 0; compiles < before + 8; turn++) {
      await makeCurrent(installation.path('dist'), [...files, { name: 'turn', contents: Buffer.of(turn) }]);
      await sleep(50);
    }
  };
  const user = async () => {
    while (isBuilding) await compile(compiles++);
  };
  const building = builds().finally(() => (isBuilding = false));
  await Promise.all([building, user(), user()]);

  const runs = readFileSync(loaded, 'utf8').trim().split('\n');
  expect(runs).toHaveLength(compiles);
  const folders = runs.map((line) => line.split(' ').map(dirname));
  for (const both of folders) expect(both).toEqual([both[0], both[0]]);
  expect(new Set(folders.flat()).size).toBeGreaterThan(2);
});
