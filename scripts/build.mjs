// Bundles the two command lines into dist/. What the drop-in does when nothing has changed is one file; everything else is
// in chunks that are loaded where they are needed.
import { rm } from 'node:fs/promises';
import { build } from 'esbuild';

const common = {
  outdir: 'dist',
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node22.15',
  conditions: ['source'],
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
