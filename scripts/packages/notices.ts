// Licences of third-party code in the packages: bundled packages, and the binary of SQLite's driver.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { bundledPackages, manifest, readJson, root, type InstalledPackage } from './files.ts';

export const NOTICES = 'THIRD-PARTY-NOTICES';

/** @throws Error with the name of a package without a licence text */
export function notices(): string {
  const parts = bundledPackages().map((folder) => {
    const { name, version, license } = readJson(join(folder, 'package.json')) as InstalledPackage;
    return `${'='.repeat(80)}\n${name} ${version} (${license})\n\n${licenceText(folder)}\n`;
  });
  return `${manifest.name} contains code of these packages. SQLite, in the binary of better-sqlite3, is in the public domain.

${parts.join('\n')}`;
}

/** SPDX expression of all licences. */
export function licenceExpression(): string {
  const others = bundledPackages().map(
    (folder) => (readJson(join(folder, 'package.json')) as InstalledPackage).license,
  );
  return [manifest.license, ...[...new Set(others)].sort()].join(' AND ');
}

function licenceText(folder: string): string {
  const names = readdirSync(join(root, folder));
  const read = (name: string) => readFileSync(join(root, folder, name), 'utf8');
  const file = names.find((name) => /^licen[cs]e(?:\.(?:md|txt))?$/i.test(name));
  if (file !== undefined) return read(file).trim();
  const readme = names.find((name) => /^readme\.md$/i.test(name));
  const chapter = readme === undefined ? null : /^#+ licen[cs]e\n([^]+?)(?:^#|(?![^]))/im.exec(read(readme));
  if (chapter === null) throw new Error(`${folder} has no licence text to pass on`);
  return chapter[1]!.trim();
}
