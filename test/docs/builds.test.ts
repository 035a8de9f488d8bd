// What docs/builds.md shows, done: its files written, every block of shell typed in its order, and every line that a workflow
// runs. In one folder, with the one program of the page.
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { format } from 'prettier';
import { expect, test } from 'vitest';
import { isInstalled, pipFolder, python, simulatedInstallation } from '../scenarios/clients-support.ts';
import { HOST, oddMatmul, Workplace } from '../scenarios/support.ts';
import { root } from '../support/real-tools.ts';

const page = readFileSync(join(root, 'docs', 'builds.md'), 'utf8');

/** What a block is marked with that is not run, and why it is not. */
const NOT_RUN: Readonly<Record<string, string>> = {
  sources:
    "it takes IREE's sources and an hour; clients.test.ts has a project with what IREE's functions ask CMake for",
  bazel: 'it takes Bazel, which downloads itself; the command of the rule is run by a shell',
  torch: 'it takes PyTorch, of some 200 MB; that the program is Python is looked at',
};

/** What a workflow does on GitHub's machines only. */
const OF_GITHUB = /^pip install |"\$GITHUB_PATH"$/;

interface Block {
  /** Of a file, its path; null for what is typed. */
  readonly path: string | null;
  readonly language: string;
  readonly text: string;
  readonly isRun: boolean;
  /** Of the page. */
  readonly line: number;
}

const blocks: readonly Block[] = [
  ...page.matchAll(
    /(?:^<!-- (?<note>file|not run): (?<what>\S+) -->\n)?^```(?<language>\w+)\n(?<text>[^]*?)^```$/gm,
  ),
].map(({ groups, index }) => {
  const { note, what, language, text } = groups!;
  const line = page.slice(0, index).split('\n').length;
  if (note === 'not run' && NOT_RUN[what!] === undefined)
    throw new Error(`docs/builds.md:${line}: nobody knows why ${what!} is not run`);
  if (note !== 'file' && language !== 'sh') throw new Error(`docs/builds.md:${line}: a file without a path`);
  return {
    path: note === 'file' ? what! : null,
    language: language!,
    text: text!,
    isRun: note === undefined,
    line,
  };
});

const fileOf = (path: string): string => {
  const found = blocks.find((block) => block.path === path);
  if (found === undefined) throw new Error(`docs/builds.md has no ${path}`);
  return found.text;
};

/** What the workflow's steps run, and the variables of its job. */
const runsOf = (workflow: string): string[] =>
  [...workflow.matchAll(/^ {6}- run: (.*?)(?: # .*)?$/gm)].map(([, command]) => command!);

test('every block of the page is a file or is typed, and what is not typed is said', () => {
  expect(page.match(/^```\w+$/gm)).toHaveLength(blocks.length);
  const isNotRun = blocks.filter(({ isRun, path }) => !isRun && path === null);
  expect(isNotRun).toHaveLength(Object.keys(NOT_RUN).length);
});

test('the workflows are YAML in the form that everything here has', async () => {
  const workflows = blocks.filter(({ language }) => language === 'yaml');
  expect(workflows.map(({ path }) => path)).toEqual([
    '.github/workflows/tuned.yaml',
    '.github/workflows/locked.yaml',
  ]);
  for (const { text } of workflows) {
    expect(await format(text, { parser: 'yaml', singleQuote: true, printWidth: 130 })).toBe(text);
    expect(text).toMatch(/^name: .*\non: .*\n(?:concurrency: .*\n)?jobs:\n {2}build:\n {4}runs-on: /);
    expect(text.match(/^ {6}- (?:run|uses): /gm)!.length).toBe(text.match(/^ {6}- /gm)!.length);
  }
});

test('what the page says works, in its order', { timeout: 300_000 }, async ({ skip }) => {
  skip(!isInstalled('make') || !isInstalled('cmake'), 'make or cmake is not installed');
  skip(python === null, 'the compiler found is not one of pip: no Python has iree.compiler');
  const place = Workplace.simulated();
  const real = simulatedInstallation(place);
  const env = {
    HOME: place.path('home'),
    PATH: [join(root, 'bin'), dirname(real), dirname(python!), pipFolder, process.env['PATH']!].join(':'),
    BOO_CACHE_DIR: place.path('boo'),
  };
  mkdirSync(env.HOME);
  place.write('model.mlir', oddMatmul);
  // Records are of the CPU of this test.
  const here = (text: string) => text.replaceAll('=znver4', '=host');
  for (const { path, text, language } of blocks) {
    if (path === null) continue;
    mkdirSync(dirname(place.path(path)), { recursive: true });
    writeFileSync(place.path(path), here(text));
    // Rules of Bazel are written in a part of Python.
    if (language === 'python') {
      const parsed = spawnSync(python!, ['-c', 'import ast, sys; ast.parse(sys.stdin.read())'], {
        input: text,
      });
      expect(parsed.stderr.toString()).toBe('');
    }
  }
  // As BOO leaves it.
  mkdirSync(place.path('boo/kernel'), { recursive: true });
  const command = ['iree-compile', ...HOST, place.path('model.mlir'), '-o', place.path('boo/kernel/1.vmfb')];
  place.write('boo/kernel/compile_command_1.txt', command.join(' '));

  const exported = blocks.filter(({ isRun, text }) => isRun && /^export /.test(text)).map(({ text }) => text);
  const type = async (script: string, at: string, more: Readonly<Record<string, string>> = {}) => {
    const run = await place.run('sh', ['-c', `set -eu\n${exported.join('')}\n${script}`], {
      env: { ...env, ...more },
    });
    const said = run.stdout.toString() + run.stderr;
    if (run.code !== 0) throw new Error(`${at}: ended with ${run.code}\n${said}`);
    return said;
  };
  const made: Record<string, Buffer> = {};
  for (const { path, isRun, text, line } of blocks) {
    if (path !== null || !isRun) continue;
    await type(text, `docs/builds.md:${line}`);
    for (const name of ['model.vmfb', 'build/model.vmfb', 'boo/kernel/1.vmfb'])
      if (place.has(name))
        made[`${text.trim().split('\n').at(-1)!.split(' #')[0]!.trim()}: ${name}`] = place.read(name);
  }
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

  // The rule of Bazel, as Bazel would have it run: with an environment of nothing, in a folder of its inputs alone.
  const rule = [...fileOf('BUILD.bazel').matchAll(/^ {8}"(.*)",$/gm)].map(([, part]) => part!).join(' ');
  const inputs = place.path('bazel');
  mkdirSync(inputs);
  for (const name of ['model.mlir', 'iree-tuned.lock']) writeFileSync(join(inputs, name), place.read(name));
  const cmd = here(rule)
    .replaceAll(/\$\(location (.*?)\)/g, '$1')
    .replace('$@', 'out.vmfb')
    .replace('/tmp/iree-tuned', place.path('bazel-cache'));
  await type(`cd bazel\n${cmd}`, 'BUILD.bazel', { IREE_TUNED_DB: '/nonexistent/tuning.db' });
  expect(place.read('bazel/out.vmfb').equals(stock)).toBe(false);

  // As the cache of Actions brings it back.
  mkdirSync(place.path('.tuned'));
  copyFileSync(place.database, place.path('.tuned/tuning.db'));
  for (const name of ['tuned', 'locked']) {
    const workflow = fileOf(`.github/workflows/${name}.yaml`);
    const settings = Object.fromEntries(
      [...workflow.matchAll(/^ {6}(IREE_TUNED_\w+): '?([^'\n]*)'?$/gm)].map(([, variable, value]) => [
        variable!,
        value!.replace('${{ github.workspace }}', place.folder),
      ]),
    );
    expect(Object.keys(settings)).not.toEqual([]);
    place.remove('model.vmfb');
    for (const line of runsOf(workflow))
      if (!OF_GITHUB.test(line)) await type(line, `${name}.yaml: ${line}`, settings);
    expect(place.read('model.vmfb').equals(stock)).toBe(false);
  }
});
