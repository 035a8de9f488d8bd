// Bundles the two command lines into dist/. What the drop-in does when nothing has changed is one file; everything else is
// in chunks that are loaded where they are needed.
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
  format: 'esm',
  platform: 'node',
  target: 'node22.15',
  conditions: ['source'],
  define: { IREE_TUNED_BUILD: JSON.stringify(await buildId(['src', 'grammar/src'])) },
  // CommonJS dependencies ask for node's own modules by require.
  banner: {
    js: "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);",
  },
  minifyWhitespace: true,
  minifySyntax: true,
  legalComments: 'none',
  logLevel: 'warning',
};

await rm('dist', { recursive: true, force: true });
await build({
  ...common,
  entryPoints: ['src/cli/iree-compile-tuned.ts'],
  banner: {},
  // See "imports" in package.json.
  external: ['#compile-tuned'],
});
await build({
  ...common,
  entryPoints: ['src/cli/compile-tuned.ts', 'src/cli/iree-tuned.ts'],
  splitting: true,
  // Brings a native binary that has to stay a file.
  external: ['better-sqlite3'],
});
