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

/** package.json of this repository. */
export interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly license: string;
  readonly engines: Readonly<Record<string, string>>;
  readonly bin: Readonly<Record<string, string>>;
}

/** package.json of an installed package. */
export interface InstalledPackage {
  readonly name: string;
  readonly version: string;
  readonly license: string;
}

export const readJson = (path: string): unknown => JSON.parse(readFileSync(join(root, path), 'utf8'));

export const manifest = readJson('package.json') as Manifest;

/** List of bundled packages, from scripts/build.mjs. No package includes it. */
const BUNDLED = 'dist/current/bundled.json';

/** Folders of bundled packages, relative to the repository, sorted. */
export const bundledPackages = (): string[] => readJson(BUNDLED) as string[];

export const textFile = (text: string, isExecutable = false): PackagedFile => ({
  contents: Buffer.from(text),
  isExecutable,
});

/** A file of the repository or its node_modules. */
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

/** Files of every package, without the binary of better-sqlite3 and a package.json. */
export function runtimeFiles(): Map<string, PackagedFile> {
  const files = new Map([
    ...['bin', 'dist/current', 'db'].flatMap((folder) => [...filesBelow(folder)]),
    [EXPLAIN_SCHEMA, fileFrom(EXPLAIN_SCHEMA)],
  ]);
  files.delete(BUNDLED);
  return files;
}
