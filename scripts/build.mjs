// Bundles the two command lines into dist/. What the drop-in does when nothing has changed is one file, everything else that
// it does is another.
import { createHash } from 'node:crypto';
import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { build } from 'esbuild';

/** Another text wherever any source is another one. */
async function buildId(folders) {
  const hash = createHash('sha256');
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
  bundle: true,
  platform: 'node',
  target: 'node22.15',
  conditions: ['source'],
  minifyWhitespace: true,
  minifySyntax: true,
  legalComments: 'none',
  logLevel: 'warning',
};
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

/** Of what every build waits for: Node starts and loads CommonJS faster than modules, and one file faster than several. */
const fast = {
  ...common,
  format: 'cjs',
  outExtension: { '.js': '.cjs' },
  define: { ...define, 'import.meta.dirname': '__dirname', 'import.meta.url': '__filename' },
};

await rm('dist', { recursive: true, force: true });
await Promise.all([
  build({ ...fast, entryPoints: ['src/cli/iree-compile-tuned.ts'] }),
  build({
    ...fast,
    entryPoints: ['src/cli/compile-tuned.ts'],
    plugins: [withoutBinary],
    // It is there when the program runs.
    logOverride: { 'require-resolve-not-external': 'silent' },
  }),
  build({
    ...common,
    entryPoints: ['src/cli/iree-tuned.ts'],
    format: 'esm',
    splitting: true,
    define,
    external: ['better-sqlite3'],
    // CommonJS dependencies ask for node's own modules by require.
    banner: {
      js: "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);",
    },
  }),
]);
