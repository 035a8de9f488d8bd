// What all commands of iree-tuned begin with: settings, folders, compiler, database.
import { join } from 'node:path';
import type { Command as Program } from 'commander';
import { cacheDirectory } from '../compiler/index.ts';
import { inspect, readCommand, type Command, type Subjects, type Surroundings } from '../pipeline/inspect.ts';
import { withSurvey } from '../pipeline/resolve.ts';
import { openStore } from '../store/open.ts';
import type { Store } from '../store/store.ts';
import { readSettings, type Settings } from './settings.ts';

/** The user asked for something that cannot be done; the message says what and how to do it right. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** Folder of the installed package: the bundles lie one level below it, the sources two. */
export const packageRoot = join(import.meta.dirname, import.meta.dirname.endsWith('dist') ? '..' : '../..');

/** Settings from the environment and from the options before the command's name. */
export function surroundingsOf(program: Program, extra: Readonly<Record<string, string>> = {}): Surroundings {
  const options = program.optsWithGlobals<{ db?: string; compiler?: string; device?: string }>();
  const given = new Map<never, string>();
  const set = (name: string, value: string | undefined) => {
    if (value !== undefined) given.set(name as never, value);
  };
  set('db', options.db);
  set('compiler', options.compiler);
  set('device', options.device);
  for (const [name, value] of Object.entries(extra)) set(name, value);
  const settings: Settings = readSettings(process.env, given);
  return { env: process.env, settings, root: packageRoot, cacheDirectory: cacheDirectory(process.env) };
}

/** The database of these surroundings. */
export function openDatabase({ settings }: Surroundings): Promise<Store> {
  return openStore(settings.database, { readonly: settings.readonly });
}

/** Flags for this machine's CPU, for who gives none. */
export const HOST_DEFAULTS = [
  '--iree-hal-target-device=local',
  '--iree-hal-local-target-device-backends=llvm-cpu',
  '--iree-llvmcpu-target-cpu=host',
];

/**
 * An input with the compiler's flags, looked at as the wrapper would before it tunes.
 * @throws UsageError with the reason, when the wrapper would pass it through
 */
export async function inspectInput(
  input: string,
  flags: readonly string[],
  surroundings: Surroundings,
): Promise<{ command: Command; subjects: Subjects }> {
  const own = flags.some((flag) => /^--?iree-hal-(?:target|local-target)/.test(flag))
    ? flags
    : [...HOST_DEFAULTS, ...flags];
  const command = await readCommand([input, ...own], surroundings);
  const inspected = await inspect(command, surroundings);
  if ('pass' in inspected) throw new UsageError(`${input}: ${inspected.pass}`);
  return { command, subjects: await withSurvey(inspected, command, surroundings) };
}
