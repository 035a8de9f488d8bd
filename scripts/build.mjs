// Bundles the two command lines. What the drop-in does when nothing has changed is one file, everything else that it does
// is another; what runs a compiler that no process can become, and what reads settings files, are two more. Beside them lies
// what the pages of reports are drawn by. Each build is a folder of its own below dist/: see builds-folder.mjs.
import { Buffer } from 'node:buffer';
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { basename, join, relative } from 'node:path';
import { build } from 'esbuild';
import { makeCurrent } from './builds-folder.mjs';
import { buildReportPage } from './report-page.mjs';

/** Another text wherever any source is another one. */
async function buildId(folders) {
  const hash = createHash('sha256').update(await readFile('grammar/operations.json'));
  for (const folder of folders) {
    const entries = await readdir(folder, { recursive: true, withFileTypes: true });
    const files = entries
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name));
    for (const file of files.sort()) hash.update(file).update(await readFile(file));
  }
  return hash.digest('hex').slice(0, 16);
}

const common = {
  outdir: 'dist',
  write: false,
  metafile: true,
  bundle: true,
  platform: 'node',
  target: 'node22.15',
  conditions: ['source'],
  minifyWhitespace: true,
  minifySyntax: true,
  legalComments: 'none',
  logLevel: 'warning',
};
/** What its package.json names first cannot be bundled. */
const JSONC = { 'jsonc-parser': 'jsonc-parser/lib/esm/main.js' };
const define = { IREE_TUNED_BUILD: JSON.stringify(await buildId(['src', 'grammar/src'])) };
/** Bundles better-sqlite3, which is a dozen of files, but for the one that looks for its binary beside itself. */
const withoutBinary = {
  name: 'better-sqlite3 without its binary',
  setup(esbuild) {
    const isOurs = ({ importer }) => importer.includes(join('better-sqlite3', 'lib'));
    esbuild.onResolve({ filter: /^\.\/binding$/ }, (file) =>
      isOurs(file) ? { path: file.path, namespace: 'binary' } : null,
    );
    const contents = `
      const { dirname, join } = require('node:path');
      module.exports = require(join(dirname(require.resolve('better-sqlite3')), 'binding.js'));`;
    esbuild.onLoad({ filter: /.*/, namespace: 'binary' }, () => ({ contents }));
  },
};

/** What is loaded on demand, and never on a hit: a file of its own, so that no hit reads past it. */
const ON_DEMAND = [
  'src/backend/vulkan/index.ts',
  'src/decision/for-device.ts',
  'src/inject/substitute.ts',
  'src/input/survey.ts',
  'src/report/nearest.ts',
  'src/report/story.ts',
  'src/site/read-targets.ts',
  'src/tuning/tune-workloads.ts',
  'src/wrapper/ask-team.ts',
  'src/running/interruptible.ts',
  'src/wrapper/locked.ts',
  'src/running/program-verdict.ts',
];
const onDemand = {
  name: 'what is loaded on demand',
  setup(esbuild) {
    esbuild.onResolve({ filter: /\.ts$/ }, ({ kind, path, resolveDir }) => {
      const name = relative('.', join(resolveDir, path));
      return kind === 'dynamic-import' && ON_DEMAND.includes(name)
        ? { path: name, namespace: 'demand' }
        : null;
    });
    esbuild.onLoad({ filter: /.*/, namespace: 'demand' }, ({ path }) => ({
      contents: `module.exports = require('./on-demand.cjs')[${JSON.stringify(path)}]();`,
    }));
    esbuild.onResolve({ filter: /^\.\/on-demand\.cjs$/ }, ({ path }) => ({ path, external: true }));
  },
};

/** Of what every build waits for: Node starts and loads CommonJS faster than modules, and one file faster than several. */
const commonJs = (name) => ({
  ...common,
  outdir: undefined,
  outfile: join('dist', `${name}.cjs`),
  format: 'cjs',
  define: { ...define, 'import.meta.dirname': '__dirname', 'import.meta.url': '__filename' },
  banner: { js: '"use strict";' },
  logOverride: {
    'commonjs-variable-in-esm': 'silent',
    // It is there when the program runs.
    'require-resolve-not-external': 'silent',
  },
});
const fast = (path, name) => ({
  ...commonJs(basename(path, '.ts')),
  // What a module exports would be defined by helpers of esbuild's, half a KB of them.
  stdin: {
    contents: `import { ${name} } from './${path}'; module.exports = { ${name} };`,
    resolveDir: '.',
  },
});

const built = await Promise.all([
  build(fast('src/cli/iree-compile-tuned.ts', 'main')),
  build({ ...fast('src/wrapper/compile-tuned.ts', 'compile'), plugins: [withoutBinary, onDemand] }),
  build({
    ...commonJs('on-demand'),
    stdin: {
      contents: `module.exports = {${ON_DEMAND.map((path) => `'${path}': () => require('./${path}')`).join()}};`,
      resolveDir: '.',
    },
    plugins: [withoutBinary],
  }),
  build(fast('src/system/run.ts', 'replaceProcess')),
  build({ ...fast('src/settings/config-text.ts', 'parseConfigText'), alias: JSONC }),
  build({
    ...common,
    entryPoints: ['src/cli/iree-tuned.ts'],
    format: 'esm',
    splitting: true,
    define,
    alias: JSONC,
    external: ['better-sqlite3'],
    // CommonJS dependencies ask for node's own modules by require.
    banner: {
      js: "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);",
    },
  }),
]);
const page = await buildReportPage();
const files = [
  ...built.flatMap(({ outputFiles }) =>
    outputFiles.map(({ path, contents }) => ({ name: basename(path), contents })),
  ),
  // What a report's page is drawn by; no build reads it.
  { name: 'report-page.json', contents: Buffer.from(JSON.stringify(page)) },
];

files.push({ name: 'bundled.json', contents: Buffer.from(JSON.stringify(bundledPackages())) });

await makeCurrent('dist', files);

/** Folders below node_modules of which something is in a bundle: their licences ask to be passed on with it. */
function bundledPackages() {
  const inputs = built
    .flatMap(({ metafile }) => Object.values(metafile.outputs))
    .flatMap((output) => Object.entries(output.inputs))
    .filter(([, { bytesInOutput }]) => bytesInOutput > 0);
  // The innermost one, in which the package of a file is.
  const names = inputs.map(([path]) => /^.*\bnode_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[0]);
  return [...new Set(names.filter((name) => name !== undefined))].sort();
}
