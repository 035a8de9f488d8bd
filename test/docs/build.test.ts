// Writes the files of docs/build.md and types its commands, in one folder with one program.
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { isInstalled, pipFolder, python, simulatedInstallation } from '../scenarios/clients-support.ts';
import { HOST, Workplace } from '../scenarios/support.ts';
import { blocksOf } from '../support/page.ts';
import { testPage, Typist, typeAll } from './support.ts';

const blocks = blocksOf('docs/build.md', 'you');
const files = blocks.filter(({ path }) => path !== null);

const fileOf = (path: string): string => {
  const found = blocks.find((block) => block.path === path);
  if (found === undefined) throw new Error(`docs/build.md has no ${path}`);
  return found.text;
};

test('every block is shell or a file', () => {
  expect(blocks.filter(({ language, path }) => language !== 'sh' && path === null)).toEqual([]);
});

function whyNot(): string | null {
  if (!isInstalled('make') || !isInstalled('cmake')) return 'make or cmake is not installed';
  return python === null ? 'the compiler found is not one of pip: no Python has iree.compiler' : null;
}

async function run() {
  const place = Workplace.simulated();
  const real = simulatedInstallation(place);
  // Records are of the CPU of this test.
  const here = (text: string) => text.replaceAll('=znver4', '=host');
  for (const { path, text, language } of files) {
    mkdirSync(dirname(place.path(path!)), { recursive: true });
    writeFileSync(place.path(path!), here(text));
    // Bazel's rules are a subset of Python.
    if (language === 'python') {
      const script = 'import ast, sys; ast.parse(sys.stdin.read())';
      expect(spawnSync(python!, ['-c', script], { input: text }).stderr.toString()).toBe('');
    }
  }
  // BOO's cache folder.
  mkdirSync(place.path('boo/kernel'), { recursive: true });
  const command = ['iree-compile', ...HOST, place.path('model.mlir'), '-o', place.path('boo/kernel/1.vmfb')];
  place.write('boo/kernel/compile_command_1.txt', command.join(' '));

  const you = new Typist(place, { BOO_CACHE_DIR: place.path('boo') }, [
    dirname(real),
    dirname(python!),
    pipFolder,
  ]);
  const made: Record<string, Buffer> = {};
  await typeAll(blocks, {
    begin: () => you,
    after: ({ text }) => {
      const last = text.trim().split('\n').at(-1)!.split(' #')[0]!.trim();
      for (const name of ['model.vmfb', 'build/model.vmfb', 'boo/kernel/1.vmfb'])
        if (place.has(name)) made[`${last}: ${name}`] = place.read(name);
    },
  });
  await place.stock([...HOST, 'model.mlir', '-o', 'stock.vmfb']);
  const stock = place.read('stock.vmfb');
  const isTuned = (key: string) => {
    expect(Object.keys(made)).toContain(key);
    return !made[key]!.equals(stock);
  };
  expect(isTuned('make --always-make model.vmfb IREE_COMPILE=iree-compile: model.vmfb')).toBe(false);
  for (const key of [
    'cmake --build build: build/model.vmfb',
    'python3 session.py: model.vmfb',
    'sh tune-boo.sh: boo/kernel/1.vmfb',
  ])
    expect({ key, isTuned: isTuned(key) }).toEqual({ key, isTuned: true });

  // Bazel runs its rule in a folder that has its inputs only.
  const rule = [...fileOf('BUILD.bazel').matchAll(/^ {8}"(.*)",$/gm)].map(([, part]) => part!).join(' ');
  const inputs = place.path('bazel');
  mkdirSync(inputs);
  for (const name of ['model.mlir', 'iree-tuned.lock']) writeFileSync(join(inputs, name), place.read(name));
  const cmd = here(rule)
    .replaceAll(/\$\(location (.*?)\)/g, '$1')
    .replace('$@', 'out.vmfb')
    .replace('/home/build/.cache/iree-tuned', place.path('bazel-cache'));
  await you.type(`cd bazel\n${cmd}`, 'BUILD.bazel', { IREE_TUNED_DB: '/nonexistent/tuning.db' });
  expect(place.read('bazel/out.vmfb').equals(stock)).toBe(false);
}

testPage('build', blocks, run, whyNot);
