// A folder of builds. Each build is a folder, and the link `current` points to the latest. So a program that starts during a build finds a
// complete old or new build.
import {
  lstat,
  mkdir,
  readdir,
  readFile,
  readlink,
  rename,
  rm,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { join } from 'node:path';
import { pid } from 'node:process';

/** Keeps names unique within a millisecond. */
let written = 0;

/** How long a replaced build stays, because running programs may load from it. */
const REPLACED_LIFETIME_MS = 24 * 3600 * 1000;

export async function makeCurrent(folder, files) {
  await mkdir(folder, { recursive: true });
  const before = await readlink(join(folder, 'current')).catch(() => null);
  const isSame = before !== null && (await holds(join(folder, before), files));
  const name = isSame ? before : await write(folder, files);
  if (!isSame) await pointTo(folder, name, before);
  await removeReplaced(folder, name);
}

/** Whether a folder has all files with equal contents. */
async function holds(folder, files) {
  const found = await Promise.all(
    files.map(async ({ name, contents }) => (await readFile(join(folder, name))).equals(contents)),
  ).catch(() => [false]);
  return found.every(Boolean);
}

/** Writes the files to a new folder. Returns its name. */
async function write(folder, files) {
  const name = `build-${Date.now().toString(36)}-${pid}-${written++}`;
  await mkdir(join(folder, name));
  await Promise.all(files.map((file) => writeFile(join(folder, name, file.name), file.contents)));
  return name;
}

/** Atomically makes a build the current one. */
async function pointTo(folder, name, before) {
  const current = join(folder, 'current');
  const link = join(folder, `${name}.link`);
  await symlink(name, link);
  await rename(link, current).catch(async () => {
    // A copied installation may have a folder instead of the link.
    await rename(current, join(folder, `${name}.copy`));
    await rename(link, current);
  });
  // The lifetime of the old build starts now.
  if (before !== null) await utimes(join(folder, before), new Date(), new Date()).catch(() => undefined);
}

/** Removes builds that were replaced or killed long ago. */
async function removeReplaced(folder, kept) {
  for (const entry of await readdir(folder)) {
    const path = join(folder, entry);
    if (entry === kept || entry === 'current') continue;
    const { mtimeMs } = await lstat(path).catch(() => ({ mtimeMs: Infinity }));
    if (mtimeMs < Date.now() - REPLACED_LIFETIME_MS) await rm(path, { recursive: true, force: true });
  }
}
