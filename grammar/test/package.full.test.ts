// @module-tag slow
// Packs the package, installs the tarball in a fresh project, and runs it there.
// In full after a change of grammar/package.json, grammar/README.md, grammar/src/main.ts.
import { execFileSync, spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { BROWSER, noBrowser } from '../../test/support/browser.ts';
import { isWithout } from '../../test/support/needs.ts';
import manifest from '../package.json' with { type: 'json' };

const root = join(import.meta.dirname, '..');
const readme = readFileSync(join(root, 'README.md'), 'utf8');
const blocks = [...readme.matchAll(/^```(\w+)\n([^]*?)^```$/gm)].map(([, language, text]) => ({
  language: language!,
  text: text!,
}));
const model = blocks.find(({ language }) => language === 'mlir')!.text;
const examples = blocks.flatMap(({ language, text }, index) =>
  language === 'ts' ? [{ text, output: blocks[index + 1]!.text }] : [],
);

/** The oldest release of Node in `engines`, from npm; it stays in the checkout's cache. */
const oldest = manifest.engines.node.replace('>=', '');
const oldestFolder = join(root, '../.cache', `node-${oldest}`);
const oldestNode = join(oldestFolder, 'node_modules/node/bin/node');
const noOldestNode = (): string | null => {
  if (!existsSync(oldestNode)) {
    mkdirSync(oldestFolder, { recursive: true });
    writeFileSync(join(oldestFolder, 'package.json'), '{ "allowScripts": { "node": true } }');
    spawnSync('npm', ['install', `node@${oldest}`, '--no-audit', '--no-fund'], { cwd: oldestFolder });
  }
  return existsSync(oldestNode) ? null : `npm cannot install node@${oldest}`;
};
const nodes = [['this Node', process.execPath]] as [string, string][];
if (!isWithout(noOldestNode())) nodes.push([`Node ${oldest}`, oldestNode]);

let folder = '';
let project = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'mlir-parser-package-'));
  project = join(folder, 'project');
  mkdirSync(project);
  const npm = (cwd: string, ...argv: string[]): string =>
    execFileSync('npm', [...argv, '--offline', '--no-audit', '--no-fund'], { cwd, encoding: 'utf8' });
  npm(root, 'pack', '--silent', '--pack-destination', folder);
  writeFileSync(join(project, 'package.json'), '{ "type": "module" }');
  npm(project, 'install', join(folder, 'mlir-parser-ts-0.1.0.tgz'));
  writeFileSync(join(project, 'model.mlir'), model);
}, 120_000);
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

/** Leaves out the test runner's NODE_OPTIONS, whose condition `source` loads the sources. */
const run = (node: string, argv: readonly string[]) => {
  const env = { PATH: process.env['PATH'] };
  const { status, stdout, stderr } = spawnSync(node, argv, { cwd: project, encoding: 'utf8', env });
  return { status, stdout, stderr };
};

test('npm publishes the bundles, the types, the sources and the grammar, and nothing else', () => {
  const list = execFileSync('npm', ['publish', '--dry-run', '--json', '--ignore-scripts'], {
    cwd: root,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const paths = [...list.matchAll(/"path": "([^"]+)"/g)].map(([, path]) => path!);
  const sources = readdirSync(join(root, 'src'));
  const types = paths.filter((path) => path.endsWith('.d.ts'));
  expect(types).toContain('dist/main.d.ts');
  expect(
    types.filter((path) => !sources.includes(path.slice('dist/'.length).replace('.d.ts', '.ts'))),
  ).toEqual([]);
  expect(paths.filter((path) => !types.includes(path)).sort()).toEqual(
    [
      ...sources.map((name) => `src/${name}`),
      ...['dist/main.js', 'dist/cli.js', 'package.json', 'operations.json'],
      ...['mlir.ebnf', 'README.md', 'LICENSE'],
    ].sort(),
  );
});

describe.each(nodes)('on %s', (_, node) => {
  test.each(examples.map(({ text, output }, index) => [index + 1, text, output] as const))(
    'example %i of the README prints its output',
    (index, text, output) => {
      writeFileSync(join(project, `example-${index}.ts`), text);
      const found = run(node, ['--experimental-strip-types', `example-${index}.ts`]);
      expect(found).toMatchObject({ status: 0, stdout: output });
    },
  );

  test('CommonJS can require the package', () => {
    const script = "console.log(require('mlir-parser-ts').parse(Buffer.from('module {}')))";
    expect(run(node, ['--input-type=commonjs', '--eval', script])).toMatchObject({
      status: 0,
      stdout: '{ operations: [], problems: [] }\n',
    });
  });
});

test('the types of the package fit the examples', () => {
  const tsc = createRequire(import.meta.url).resolve('typescript/bin/tsc');
  const files = examples.map(({ text }, index) => {
    writeFileSync(
      join(project, `typed-${index}.ts`),
      text.replace(/.*'node:fs';\n/, 'declare const readFileSync: (path: string) => Uint8Array;\n'),
    );
    return `typed-${index}.ts`;
  });
  const flags = ['--noEmit', '--strict', '--target', 'es2022', '--module', 'nodenext', '--lib', 'es2022,dom'];
  expect(run(process.execPath, [tsc, ...flags, ...files])).toEqual({ status: 0, stdout: '', stderr: '' });
});

describe.each(nodes)('the command on %s', (_, node) => {
  const command = 'node_modules/mlir-parser-ts/dist/cli.js';
  const shown = blocks.find(({ text }) => text.startsWith('model.mlir:'))!.text;

  test('lists the operations', () => {
    expect(run(node, [command, 'model.mlir'])).toEqual({ status: 0, stdout: shown, stderr: '' });
  });

  test('prints every property of the operations as JSON', () => {
    const { status, stdout } = run(node, [command, 'model.mlir', '--json']);
    expect(status).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      operations: [
        {
          ...{ name: 'linalg.matmul', line: 3, column: 8, symbol: 'main', resultNames: ['%0'] },
          locations: [{ file: 'model.py', line: 12, column: 3 }],
          attributes: [
            {
              name: 'my.tag',
              value: { kind: 'array', values: [{ kind: 'integer', value: 1 }, { value: 'x' }] },
            },
          ],
        },
      ],
      problems: [],
    });
  });

  test('exits with 1 when a part of the text is not understood, with 2 without text', () => {
    writeFileSync(join(project, 'broken.mlir'), 'foo.bar {');
    const broken = run(node, [command, 'broken.mlir', '--json']);
    expect(broken).toMatchObject({
      status: 1,
      stderr: 'broken.mlir:1:10: the text ends inside 1 open braces\n',
    });
    expect(JSON.parse(broken.stdout)).toMatchObject({ problems: [{ line: 1, column: 10 }] });
    for (const argv of [[], ['none.mlir'], ['a', 'b'], ['--what']])
      expect(run(node, [command, ...argv])).toMatchObject({ status: 2, stdout: '' });
  });
});

test.skipIf(isWithout(noBrowser))('the package runs in a worker of a browser', async () => {
  const worker = `
    import { locate, parse } from './main.js';
    const input = new TextEncoder().encode(${JSON.stringify(model)});
    const { operations, problems } = parse(input);
    postMessage({ problems, operations: operations.map(({ name, start }) => ({ name, ...locate(input, start) })) });`;
  const main = readFileSync(join(project, 'node_modules/mlir-parser-ts/dist/main.js'), 'utf8');
  const files: Record<string, string> = { '/': '', '/worker.js': worker, '/main.js': main };
  const browser = await chromium.launch({ executablePath: BROWSER!, args: ['--no-sandbox'] });
  try {
    const page = await browser.newPage();
    await page.route('http://package.test/**', (route) => {
      const { pathname } = new URL(route.request().url());
      const contentType = pathname === '/' ? 'text/html' : 'text/javascript';
      return route.fulfill({ body: files[pathname] ?? '', contentType });
    });
    await page.goto('http://package.test/');
    const found = await page.evaluate(`new Promise((resolve, reject) => {
      const worker = new Worker('/worker.js', { type: 'module' });
      worker.onmessage = ({ data }) => resolve(data);
      worker.onerror = ({ message }) => reject(new Error(message));
    })`);
    expect(found).toEqual({ problems: [], operations: [{ name: 'linalg.matmul', line: 3, column: 8 }] });
  } finally {
    await browser.close();
  }
});
