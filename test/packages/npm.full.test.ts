// @module-tag slow
// The npm package: its contents, and its commands after an installation.
// In full after a change of scripts/packages.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { billOfMaterials } from '../../scripts/packages/bill-of-materials.ts';
import { bundledPackages, manifest } from '../../scripts/packages/files.ts';
import { buildNpmPackage } from '../../scripts/packages/npm-package.ts';
import { releaseProblems } from '../../scripts/packages/release-problems.ts';
import { program } from '../support/scripts.ts';
import { root, temporaryDirectory } from '../support/folders.ts';

let tarball: string;
beforeAll(() => {
  tarball = buildNpmPackage(join(temporaryDirectory(), 'npm-package'));
});

/** An installation of the package as npm makes it, with a link. */
function installed(): { folder: string; command: (name: string) => string } {
  const prefix = temporaryDirectory();
  const packages = join(prefix, 'lib/node_modules');
  const folder = join(packages, manifest.name);
  mkdirSync(folder, { recursive: true });
  execFileSync('tar', ['-xzf', tarball, '-C', folder, '--strip-components=1']);
  symlinkSync(join(root, 'node_modules/better-sqlite3'), join(packages, 'better-sqlite3'));
  mkdirSync(join(prefix, 'bin'));
  const { bin } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
    bin: Record<string, string>;
  };
  for (const [name, path] of Object.entries(bin))
    symlinkSync(join('../lib/node_modules', manifest.name, path), join(prefix, 'bin', name));
  return { folder, command: (name) => join(prefix, 'bin', name) };
}

test('it has launchers, bundles, migrations, licences and the schema of the explain JSON, and nothing else', () => {
  const names = execFileSync('tar', ['-tzf', tarball], { encoding: 'utf8' }).trimEnd().split('\n');
  const known =
    /^package\/(?:bin\/iree-(?:compile-tuned|tuned)(?:\.m?c?js)?|dist\/current\/[\w.-]+\.(?:c?js|json)|db\/(?:README\.md|schema\.sql|(?:migrations|team)\/\d{4}_\w+\.sql|priors\/[\w-]+\.json)|docs\/explain\.schema\.json|LICENSE|README\.md|THIRD-PARTY-NOTICES|package\.json)$/;
  expect(names.filter((name) => !known.test(name))).toEqual([]);
  for (const name of [
    'bin/iree-tuned.mjs',
    'dist/current/on-demand.cjs',
    'db/migrations/0001_initial.sql',
    'docs/explain.schema.json',
  ])
    expect(names).toContain(`package/${name}`);
});

test('it depends on the driver of SQLite only, and needs no build', () => {
  const { folder } = installed();
  const found = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Record<string, unknown>;
  expect(Object.keys(found['dependencies'] as object)).toEqual(['better-sqlite3']);
  for (const name of ['devDependencies', 'scripts', 'workspaces', 'private'])
    expect(found).not.toHaveProperty(name);
});

test('its commands run on the Node of PATH', () => {
  const { command } = installed();
  const home = temporaryDirectory();
  const real = dirname(program(join(temporaryDirectory(), 'iree-compile'), 'echo real "$@"'));
  const env = { HOME: home, PATH: `${dirname(process.execPath)}:${real}:/usr/bin:/bin` };
  const run = (name: string, argv: string[]) => {
    const { stdout, stderr } = spawnSync(command(name), argv, { encoding: 'utf8', env });
    return { stdout, stderr };
  };
  expect(run('iree-tuned', ['--version'])).toEqual({ stdout: `${manifest.version}\n`, stderr: '' });
  // An opened database proves that the driver and the migrations exist.
  expect(run('iree-tuned', ['device', 'name', 'here', '--json']).stderr).toBe('');
  expect(existsSync(join(home, '.local/share/iree-tuned')) || process.platform === 'darwin').toBe(true);
  expect(run('iree-compile-tuned', ['--iree-tuned-disable', 'x'])).toEqual({
    stdout: 'real x\n',
    stderr: '',
  });
});

test("the repository's own folder cannot be published", () => {
  const { status, stderr } = spawnSync('npm', ['pack', '--dry-run'], { cwd: root, encoding: 'utf8' });
  expect(status).not.toBe(0);
  expect(stderr).toContain('npm run build:npm');
});

test('its bill of materials lists all bundled packages, and none for development only', () => {
  const { metadata, components, dependencies } = JSON.parse(billOfMaterials()) as {
    metadata: { component: { name: string } };
    components: { name: string; 'bom-ref': string }[];
    dependencies: { ref: string; dependsOn: string[] }[];
  };
  expect(metadata.component.name).toBe(manifest.name);
  const names = components.map(({ name }) => name);
  const bundled = bundledPackages().map((folder) => /node_modules\/(.+)\/$/.exec(folder)![1]!);
  expect(names).toEqual(expect.arrayContaining([...bundled, 'mlir-parser-ts']) as string[]);
  for (const name of ['esbuild', 'typescript', 'vitest', '@types/pg']) expect(names).not.toContain(name);
  const known = new Set([`${manifest.name}@${manifest.version}`, ...components.map((one) => one['bom-ref'])]);
  for (const { ref, dependsOn } of dependencies)
    expect([ref, ...dependsOn].filter((one) => !known.has(one))).toEqual([]);
});

test('all versions agree', () => {
  expect(releaseProblems([], tarball)).toEqual([]);
});
