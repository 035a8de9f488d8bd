// Bundles the two command lines into dist/, with everything that a hit does not need in chunks of its own.
import { rm } from 'node:fs/promises';
import { build } from 'esbuild';

await rm('dist', { recursive: true, force: true });
await build({
  entryPoints: ['src/cli/iree-compile-tuned.ts', 'src/cli/iree-tuned.ts'],
  outdir: 'dist',
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node22.15',
  conditions: ['source'],
  // Brings a native binary that has to stay a file.
  external: ['better-sqlite3'],
  // CommonJS dependencies ask for node's own modules by require.
  banner: {
    js: "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);",
  },
  minifyWhitespace: true,
  minifySyntax: true,
  legalComments: 'none',
  logLevel: 'warning',
});
