// Writes dist: the parser and the command as modules of JavaScript, and the types.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { build } from 'esbuild';

const here = import.meta.dirname;
const dist = join(here, 'dist');
const types = mkdtempSync(join(tmpdir(), 'mlir-parser-types-'));

rmSync(dist, { recursive: true, force: true });
mkdirSync(dist);
try {
  const tsc = createRequire(import.meta.url).resolve('typescript/bin/tsc');
  const flags = ['--project', join(here, 'tsconfig.build.json'), '--noEmit', 'false', '--outDir', types];
  execFileSync(process.execPath, [tsc, ...flags], { stdio: 'inherit' });
  copyTypes('main');
} finally {
  rmSync(types, { recursive: true, force: true });
}

const common = { absWorkingDir: here, bundle: true, format: 'esm', target: 'es2022', logLevel: 'warning' };
await build({ ...common, entryPoints: ['src/main.ts'], platform: 'neutral', outfile: 'dist/main.js' });
await build({
  ...{ ...common, entryPoints: ['src/cli.ts'], platform: 'node', outfile: 'dist/cli.js' },
  external: ['mlir-parser-ts'],
});

/** Copies a file of types and those that it names, with the extensions that are there. */
function copyTypes(name, seen = new Set()) {
  if (seen.has(name)) return;
  seen.add(name);
  const text = readFileSync(join(types, 'src', `${name}.d.ts`), 'utf8');
  writeFileSync(join(dist, `${name}.d.ts`), text.replace(/(from '\.\/[\w-]+)\.ts'/g, "$1.js'"));
  for (const [, other] of text.matchAll(/from '\.\/([\w-]+)\.ts'/g)) copyTypes(other, seen);
}
