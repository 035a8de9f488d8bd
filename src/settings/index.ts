// The settings of one run. Precedence: flags, environment variables, then the files of project, user and system.
import { createRequire } from 'node:module';
import type * as ConfigText from './config-text.ts';
import { whyDistrusted } from '../system/trust.ts';
import {
  findLockFile,
  homeDirectory,
  mayOverwrite,
  projectFolder,
  readSettingsFiles,
  realPath,
  type SettingsFile,
  userPaths,
} from './files.ts';
import { resolveSettings, type Resolution } from './resolve.ts';
import type { Name } from './settings.ts';

export { SettingsError, splitFlags, type Name, type Settings } from './settings.ts';

/** Reads all layers. Never throws. */
export function readSettings(
  env: Readonly<Record<string, string | undefined>>,
  flags: ReadonlyMap<Name, string>,
  flagPrefix = '--iree-tuned-',
): Resolution & { readonly files: readonly SettingsFile[] } {
  const { platform } = process;
  const home = homeDirectory(env);
  const paths = userPaths(env, platform, home);
  const files = readSettingsFiles(paths.settings, home);
  const lock = findLockFile(projectFolder(files), home);
  const defaults = { database: paths.database, cache: paths.cache, lock: lock.path ?? undefined };
  const sources = { env, flags, flagPrefix, files, parse, home, defaults, realPath, mayOverwrite };
  const resolution = resolveSettings(sources);
  const refused = [...resolution.refused, ...(lock.problem === null ? [] : [lock.problem])];
  const { cache } = resolution.settings;
  const distrusted = whyDistrusted(cache);
  if (distrusted === null) return { ...resolution, refused, files };
  // Builds run commands from the cache.
  const problem = `cache=${cache}: ${distrusted}`;
  const settings = { ...resolution.settings, cache: NOWHERE };
  return { ...resolution, settings, refused, problems: [...resolution.problems, problem], files };
}

/** A folder that nobody can create. */
const NOWHERE = '/dev/null/iree-tuned';

/** Loads the parser on demand, because most builds have no settings file. */
function parse(text: string): ConfigText.ConfigText {
  const file = import.meta.url.endsWith('.ts') ? './config-text.ts' : './config-text.cjs';
  return (createRequire(import.meta.url)(file) as typeof ConfigText).parseConfigText(text);
}
