// A folder of builds. Each is a folder of its own, and the link `current` leads to the latest: whoever starts meanwhile finds the
// one before or this one, all of it.
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

/** Names differ also where one process writes several builds within a millisecond. */
let written = 0;

/** For so long after it was replaced, what was started from a build may still load from it. */
const REPLACED_LIFETIME_MS = 24 * 3600 * 1000;

export async function makeCurrent(folder, files) {
  await mkdir(folder, { recursive: true });
  const before = await readlink(join(folder, 'current')).catch(() => null);
  const isSame = before !== null && (await holds(join(folder, before), files));
  const name = isSame ? before : await write(folder, files);
  if (!isSame) await pointTo(folder, name, before);
  await removeReplaced(folder, name);
}

/** Whether a folder has all these files, as they are. */
async function holds(folder, files) {
  const found = await Promise.all(
    files.map(async ({ name, contents }) => (await readFile(join(folder, name))).equals(contents)),
  ).catch(() => [false]);
  return found.every(Boolean);
}

/** Writes the files into a new folder, and gives its name. */
async function write(folder, files) {
  const name = `build-${Date.now().toString(36)}-${pid}-${written++}`;
  await mkdir(join(folder, name));
  await Promise.all(files.map((file) => writeFile(join(folder, name, file.name), file.contents)));
  return name;
}

/** Makes a build the current one, in one step. */
async function pointTo(folder, name, before) {
  const current = join(folder, 'current');
  const link = join(folder, `${name}.link`);
  await symlink(name, link);
  await rename(link, current).catch(async () => {
    // Whoever copied an installation may have made a folder of the link.
    await rename(current, join(folder, `${name}.copy`));
    await rename(link, current);
  });
  // From now on nobody new uses the one before.
  if (before !== null) await utimes(join(folder, before), new Date(), new Date()).catch(() => undefined);
}

/** Removes what builds have left that were replaced, or killed, long ago. */
async function removeReplaced(folder, kept) {
  for (const entry of await readdir(folder)) {
    const path = join(folder, entry);
    if (entry === kept || entry === 'current') continue;
    const { mtimeMs } = await lstat(path).catch(() => ({ mtimeMs: Infinity }));
    if (mtimeMs < Date.now() - REPLACED_LIFETIME_MS) await rm(path, { recursive: true, force: true });
  }
}
