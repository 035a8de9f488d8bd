// Checks of a release: one version everywhere, an entry in the changelog, a tested compiler.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { strFromU8, unzipSync } from 'fflate';
import { manifest, readJson, root } from './files.ts';
import { IREE_VERSION } from './python-package.ts';
import { pythonVersion } from './wheel.ts';

/** Problems with publishing these files; empty for none. */
export function releaseProblems(wheels: readonly string[], npmPackage: string): string[] {
  const { version } = manifest;
  const wrong = (what: string, found: string | undefined, wanted: string) =>
    found === wanted ? [] : [`${what} is of version ${found ?? 'none'}, package.json of ${wanted}`];
  const lock = readJson('package-lock.json') as { version: string };
  const changelog = /^## (\S+)/m.exec(readText('CHANGELOG.md'))?.[1];
  const setup = /provision \.venv (\S+)/.exec(readText('scripts/setup.sh'))?.[1];
  return [
    ...wrong('package-lock.json', lock.version, version),
    ...wrong('the first heading of CHANGELOG.md', changelog, version),
    ...wheels.flatMap((wheel) => wrong(basename(wheel), wheelVersion(wheel), pythonVersion(version))),
    ...wrong(basename(npmPackage), npmVersion(npmPackage), version),
    ...(setup === IREE_VERSION
      ? []
      : [`the wheel requires IREE ${IREE_VERSION}, and the tests run with ${setup ?? 'none'}`]),
  ];
}

const readText = (path: string) => readFileSync(join(root, path), 'utf8');

/** The version in METADATA. */
function wheelVersion(path: string): string | undefined {
  const files = unzipSync(readFileSync(path), { filter: ({ name }) => name.endsWith('.dist-info/METADATA') });
  const [metadata] = Object.values(files).map((file) => strFromU8(file));
  return /^Version: (.+)$/m.exec(metadata ?? '')?.[1];
}

function npmVersion(path: string): string | undefined {
  const text = execFileSync('tar', ['-xzOf', path, 'package/package.json'], { encoding: 'utf8' });
  return (JSON.parse(text) as { version?: string }).version;
}
