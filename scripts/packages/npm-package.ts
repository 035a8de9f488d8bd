// The package for npm: bundles and launchers, with SQLite's driver as the only dependency. It is a folder for `npm pack`, because the
// repository's package.json is for development.
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
    // An exact version, because the bundles include its JavaScript, and load its binary.
    dependencies: { [sqlite.name]: sqlite.version },
    // If the user's Node is too old, the launcher finds the `node` next to the package. It is no dependency, because its `node` would replace the
    // Node of every script in the user's project.
    peerDependencies: { node: engines['node'] },
    peerDependenciesMeta: { node: { optional: true } },
  };
}

/** Writes the package's folder, and packs it next to the folder. Returns the path of the packed file. */
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
