// Bundles the two command lines. The drop-in has one file for a repeated compile, one for other hits, and one for code on demand. Running a
// compiler as a child and reading settings files are separate files, too. Each build is a folder below dist/: see builds-folder.mjs.
import { Buffer } from 'node:buffer';
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { basename, join, relative } from 'node:path';
import { build } from 'esbuild';
import { makeCurrent } from './builds-folder.mjs';
import { buildReportPage } from './report-page.mjs';

/** Digest of all sources. */
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
/** The ES module, because esbuild cannot bundle the UMD file in `main`. */
const JSONC = { 'jsonc-parser': 'jsonc-parser/lib/esm/main.js' };
const define = { IREE_TUNED_BUILD: JSON.stringify(await buildId(['src', 'grammar/src'])) };
/** Bundles better-sqlite3, except the file that finds its binary. */
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

/** Modules that no hit loads. They go to a separate file, so that hits read less. */
const ON_DEMAND = [
  'src/backend/cuda/index.ts',
  'src/backend/rocm/index.ts',
  'src/backend/vulkan/index.ts',
  'src/decision/for-device.ts',
  'src/form/spec.ts',
  'src/inject/substitute.ts',
  'src/input/survey.ts',
  'src/report/terminal.ts',
  'src/runner/facts.ts',
  'src/runner/session.ts',
  'src/site/read-targets.ts',
  'src/tuning/tune-workloads.ts',
  'src/running/interruptible.ts',
  'src/wrapper/locked.ts',
  'src/wrapper/provenance.ts',
  'src/wrapper/several-targets.ts',
  'src/running/program-verdict.ts',
];
const onDemand = {
  name: 'modules on demand',
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

/** Options for files that every build loads: Node loads CommonJS faster than ES modules, and one file faster than several. */
const commonJs = (name) => ({
  ...common,
  outdir: undefined,
  outfile: join('dist', `${name}.cjs`),
  format: 'cjs',
  define: { ...define, 'import.meta.dirname': '__dirname', 'import.meta.url': '__filename' },
  banner: { js: '"use strict";' },
  logOverride: {
    'commonjs-variable-in-esm': 'silent',
    // The file exists at run time.
    'require-resolve-not-external': 'silent',
  },
});
const fast = (path, name) => ({
  ...commonJs(basename(path, '.ts')),
  // Without this, esbuild adds half a KB of helpers for exports.
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
  build({ ...commonJs('runner'), entryPoints: ['src/runner/entry.ts'] }),
  build({ ...commonJs('base'), entryPoints: ['src/base/entry.ts'], plugins: [withoutBinary] }),
  build({ ...fast('src/settings/config-text.ts', 'parseConfigText'), alias: JSONC }),
  build({
    ...common,
    entryPoints: ['src/cli/iree-tuned.ts'],
    format: 'esm',
    splitting: true,
    define,
    alias: JSONC,
    external: ['better-sqlite3'],
    // CommonJS dependencies call require for Node's modules.
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
  // Script and style of report pages.
  { name: 'report-page.json', contents: Buffer.from(JSON.stringify(page)) },
];

files.push({ name: 'bundled.json', contents: Buffer.from(JSON.stringify(bundledPackages())) });

await makeCurrent('dist', files);

/** Folders of bundled packages below node_modules. Packages must include their licences. */
function bundledPackages() {
  const inputs = built
    .flatMap(({ metafile }) => Object.values(metafile.outputs))
    .flatMap((output) => Object.entries(output.inputs))
    .filter(([, { bytesInOutput }]) => bytesInOutput > 0);
  // The innermost node_modules in the path.
  const names = inputs.map(([path]) => /^.*\bnode_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[0]);
  return [...new Set(names.filter((name) => name !== undefined))].sort();
}
