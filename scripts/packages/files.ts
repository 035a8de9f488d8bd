// The files of every package: launchers, bundles, migrations, licences and the schema of the explain JSON. The launchers and the bundles
// find each file by its place below the package's root.
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

export const root = join(import.meta.dirname, '../..');

export interface PackagedFile {
  readonly contents: Uint8Array;
  readonly isExecutable: boolean;
}

/** Files by their paths in a package, with `/` between folders. */
export type Files = ReadonlyMap<string, PackagedFile>;

/** What package.json of this repository says. */
export interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly license: string;
  readonly engines: Readonly<Record<string, string>>;
  readonly bin: Readonly<Record<string, string>>;
}

/** What an installed better-sqlite3 says. */
export interface InstalledPackage {
  readonly name: string;
  readonly version: string;
  readonly license: string;
}

export const readJson = (path: string): unknown => JSON.parse(readFileSync(join(root, path), 'utf8'));

export const manifest = readJson('package.json') as Manifest;

/** Built by scripts/build.mjs; says which packages are in the bundles, and is of no use to anybody else. */
const BUNDLED = 'dist/current/bundled.json';

/** Folders of the packages of which something is in the bundles, relative to the repository, sorted. */
export const bundledPackages = (): string[] => readJson(BUNDLED) as string[];

export const textFile = (text: string, isExecutable = false): PackagedFile => ({
  contents: Buffer.from(text),
  isExecutable,
});

/** One file of the repository, or of what is installed in it. */
export function fileFrom(path: string): PackagedFile {
  const file = join(root, path);
  return { contents: readFileSync(file), isExecutable: (statSync(file).mode & 0o100) !== 0 };
}

/** All files below a folder of the repository, by their paths there. */
export function filesBelow(folder: string): Map<string, PackagedFile> {
  const entries = readdirSync(join(root, folder, '.'), { recursive: true, encoding: 'utf8' });
  return new Map(
    entries
      .map((name) => join(folder, name))
      .filter((path) => statSync(join(root, path)).isFile())
      .map((path) => [path, fileFrom(path)]),
  );
}

/** Describes the explain JSON to programs that read it. */
const EXPLAIN_SCHEMA = 'docs/explain.schema.json';

/** What runs, whatever package it is in, but for the binary of better-sqlite3 and a package.json. */
export function runtimeFiles(): Map<string, PackagedFile> {
  const files = new Map([
    ...['bin', 'dist/current', 'db'].flatMap((folder) => [...filesBelow(folder)]),
    [EXPLAIN_SCHEMA, fileFrom(EXPLAIN_SCHEMA)],
  ]);
  files.delete(BUNDLED);
  return files;
}
