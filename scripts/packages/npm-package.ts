// The package for npm: bundles and launchers, with SQLite's driver as its only dependency. Written as a folder for npm to
// pack, because the repository's own package.json is that of a workspace with everything that building takes.
import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import {
  fileFrom,
  manifest,
  readJson,
  runtimeFiles,
  textFile,
  type Files,
  type InstalledPackage,
} from './files.ts';
import { licenceExpression, NOTICES, notices } from './notices.ts';
import { SQLITE } from './platforms.ts';

export function npmPackage(): Files {
  return new Map([
    ...runtimeFiles(),
    ['package.json', textFile(`${JSON.stringify(packageJson(), null, 2)}\n`)],
    ['README.md', fileFrom('scripts/packages/README.md')],
    ['LICENSE', fileFrom('LICENSE')],
    [NOTICES, textFile(notices())],
  ]);
}

function packageJson(): object {
  const { name, version, description, engines, bin } = manifest;
  const sqlite = readJson(join(SQLITE, 'package.json')) as InstalledPackage;
  return {
    name,
    version,
    description,
    keywords: ['iree', 'mlir', 'compiler', 'autotuning', 'matmul'],
    license: `(${licenceExpression()})`,
    type: 'module',
    bin,
    files: ['bin', 'dist', 'db', 'docs', NOTICES],
    engines,
    os: ['linux', 'darwin'],
    // Half of it is in the bundles, and only fits the other half of the same version.
    dependencies: { [sqlite.name]: sqlite.version },
    // npm runs on a Node, and where that is too old this one is found beside the package. As a dependency it would become
    // the Node of every script of a project that installs the package.
    peerDependencies: { node: engines['node'] },
    peerDependenciesMeta: { node: { optional: true } },
  };
}

/** Writes the package's folder, and the file that npm makes of it beside that. Gives the file's path. */
export function buildNpmPackage(folder: string): string {
  const unpacked = join(folder, 'package');
  rmSync(folder, { recursive: true, force: true });
  for (const [path, { contents, isExecutable }] of npmPackage()) {
    const file = join(unpacked, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, contents, { mode: isExecutable ? 0o755 : 0o644 });
  }
  const argv = ['pack', '--json', '--loglevel=error', '--pack-destination', folder, unpacked];
  const [packed] = JSON.parse(execFileSync('npm', argv, { encoding: 'utf8' })) as { filename: string }[];
  return join(folder, packed!.filename);
}
