// `npm run release -- [--dry-run]`: builds and checks all packages, and writes release/ with checksums and a bill of materials. Without
// --dry-run it uploads the packages with npm and twine, which know their accounts.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { buildNpmPackage } from './npm-package.ts';
import { billOfMaterials } from './bill-of-materials.ts';
import { buildWheels } from './build-wheel.ts';
import { manifest, root } from './files.ts';
import { releaseProblems } from './release-problems.ts';

const asked = process.argv.slice(2);
const isDry = asked.includes('--dry-run');
const unknown = asked.find((argument) => argument !== '--dry-run');
if (unknown !== undefined) fail([`unknown argument ${unknown}: the only one is --dry-run`]);

const run = (file: string, argv: readonly string[]) =>
  execFileSync(file, argv, {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
    stdio: ['ignore', 'pipe', 'inherit'],
  });

const changed = isDry ? '' : run('git', ['status', '--porcelain']);
if (changed !== '') fail([`commit or remove these changes first:\n${changed.trimEnd()}`]);

const release = join(root, 'release');
rmSync(release, { recursive: true, force: true });
mkdirSync(release);
const wheels = buildWheels(join(root, 'wheels'));
const npmPackage = buildNpmPackage(join(root, 'npm-package'));
const problems = releaseProblems(wheels, npmPackage);
if (problems.length > 0) fail(problems);

const sbom = join(release, `${manifest.name}-${manifest.version}.cdx.json`);
writeFileSync(sbom, billOfMaterials());
const files = [...wheels, npmPackage].map((path) => {
  const copy = join(release, basename(path));
  copyFileSync(path, copy);
  return copy;
});
const sums = [...files, sbom].map(
  (path) => `${createHash('sha256').update(readFileSync(path)).digest('hex')}  ${basename(path)}\n`,
);
writeFileSync(join(release, 'SHA256SUMS'), sums.join(''));
process.stdout.write(sums.join(''));

if (!isDry) {
  const tarball = files.at(-1)!;
  // Before any upload.
  run('twine', ['check', '--strict', ...files.slice(0, -1)]);
  run('npm', ['publish', tarball]);
  run('twine', ['upload', ...files.slice(0, -1)]);
}

function fail(messages: readonly string[]): never {
  for (const message of messages) process.stderr.write(`release: ${message}\n`);
  process.exit(1);
}
