// What all commands of iree-tuned begin with: settings, folders, compiler, database.
import { accessSync, constants, statSync } from 'node:fs';
import type { Command as Program } from 'commander';
import { importOnnx, isOnnx } from '../compiler/import-onnx.ts';
import { unknownDevice, type Device } from '../backend/device.ts';
import { loadBackendOfDriver } from '../backend/index.ts';
import { findCompiler, type FoundCompiler } from '../compiler/find.ts';
import { siteFor } from '../decision/for-device.ts';
import type { Inspected } from '../plan/inspected.ts';
import { inspect } from '../wrapper/inspect.ts';
import type { Surroundings } from '../settings/surroundings.ts';
import { readCommand, type Command } from '../compiler/command.ts';
import { withSurvey } from '../wrapper/resolve.ts';
import { UserError } from '../system/user-error.ts';
import { describeSite, questionAbout, type Site } from '../site/site.ts';
import { isServer } from '../settings/address.ts';
import { readSettings, SettingsError, type Name } from '../settings/index.ts';
import type { Exchange } from '../store/exchange/exchange.ts';
import { openAsFarAsPossible, openStore } from '../store/open.ts';
import { openExchange } from '../store/open-exchange.ts';
import type { Store } from '../store/store.ts';
import { packageRoot } from '../system/package-root.ts';
import { warn } from './output.ts';
import { inWords } from './refusal.ts';
import type { Reason } from '../system/reason.ts';

/** The command line is not understood, whatever there is to work on; the message says what it takes. */
export class UsageError extends UserError {
  override readonly name = 'UsageError';
}

/** The wrapper would pass an input through, for a reason that is no mistake of anybody's. */
export class PassedThroughError extends UserError {
  override readonly name = 'PassedThroughError';
  readonly why: Reason;

  constructor(input: string, why: Reason) {
    super(`${input}: ${why.reason}`);
    this.why = why;
  }
}

/** What all commands take before their name. */
interface GlobalOptions {
  readonly db?: string;
  readonly compiler?: string;
  readonly device?: string;
  readonly team?: string;
}

/** Settings with the options before the command's name in front. */
export function settingsOf(program: Program, extra: Readonly<Partial<Record<Name, string>>> = {}) {
  const { db, compiler, device, team } = program.optsWithGlobals<GlobalOptions>();
  // A command that has such an option itself means something else by it.
  const own = new Set(program.options.map((option) => option.attributeName()));
  const options = Object.entries({ db, compiler, device, team }).filter(([name]) => !own.has(name));
  options.push(...Object.entries(extra));
  const given = options.filter((entry): entry is [Name, string] => entry[1] !== undefined);
  return readSettings(process.env, new Map(given), '--');
}

/**
 * @param extra options of the command that are settings too
 * @throws SettingsError when a setting is not understood
 */
export function surroundingsOf(
  program: Program,
  extra: Readonly<Partial<Record<Name, string>>> = {},
): Surroundings {
  const { settings, problems, refused } = settingsOf(program, extra);
  if (problems.length > 0) throw new SettingsError(problems.join('\n'));
  for (const message of refused) warn(message);
  return { env: process.env, settings, root: packageRoot, cacheDirectory: settings.cache };
}

/** The database of these surroundings, to be written. */
export function openDatabase({ settings }: Surroundings): Promise<Store> {
  return openStore(settings.database, { readonly: settings.readonly, onMigrated: warn });
}

/**
 * The same for commands that need not write it: where it cannot be written it is only read, which is told.
 * @throws UserError when there is none
 */
export async function openToLook(surroundings: Surroundings): Promise<{ store: Store; isReadonly: boolean }> {
  requireDatabase(surroundings);
  const { database, readonly } = surroundings.settings;
  const { store, whyReadonly } = await openAsFarAsPossible(database, { readonly, onMigrated: warn });
  if (whyReadonly !== null) warn(whyReadonly);
  return { store, isReadonly: readonly || whyReadonly !== null };
}

/** For commands that have something to say without a database, too; null where there is none. */
export const openIfThere = async (surroundings: Surroundings): Promise<Store | null> =>
  isThere(surroundings) ? (await openToLook(surroundings)).store : null;

/**
 * A name that is mistyped must not become an empty database.
 * @throws UserError when there is no database
 */
export function requireDatabase(surroundings: Surroundings): void {
  if (!isThere(surroundings))
    throw new UserError(
      `there is no tuning database ${surroundings.settings.database}: builds make it, and so does iree-tuned tune; ` +
        `--db or IREE_TUNED_DB names another one`,
    );
}

/** Whether there is something to open; what cannot be looked at is for the opening to say. */
export function isThere({ settings: { database } }: Surroundings): boolean {
  try {
    return isServer(database) || statSync(database, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return true;
  }
}

/**
 * What a build of this input is for: this machine, or the device that is set.
 * @throws UnknownDeviceError
 */
export function atDevice(inspected: Inspected, store: Store | null, { settings }: Surroundings): Inspected {
  const { forDevice } = settings;
  return forDevice === undefined
    ? inspected
    : { ...inspected, site: siteFor(inspected.site, forDevice, store ?? NO_DEVICES) };
}

const NO_DEVICES = { devices: () => [] };

/** The device of the setting, or else this machine's CPU; unknown where it cannot be found. */
export async function describeDeviceHere(surroundings: Surroundings): Promise<Device> {
  const { device: driver = 'local-task' } = surroundings.settings;
  const backend = await loadBackendOfDriver(driver);
  const question = questionAbout(findCompilerOrNull(surroundings), surroundings);
  const found = await backend?.describeDevice(driver, question);
  return typeof found === 'object' ? found : unknownDevice(driver);
}

function findCompilerOrNull({ env, settings, root, cacheDirectory }: Surroundings): FoundCompiler | null {
  try {
    return findCompiler(env, { compiler: settings.compiler, root, cacheDirectory });
  } catch {
    return null;
  }
}

/** All of it, for moving it. */
export const openWholeDatabase = ({ settings }: Surroundings): Exchange =>
  openExchange(settings.database, { readonly: settings.readonly, onMigrated: warn });

/** Flags for this machine's CPU, for who gives none. */
export const HOST_DEFAULTS = [
  '--iree-hal-target-device=local',
  '--iree-hal-local-target-device-backends=llvm-cpu',
  '--iree-llvmcpu-target-cpu=host',
];

/** Flags with a target: this machine where they name none. */
export const withTarget = (flags: readonly string[]): readonly string[] =>
  flags.some((flag) => /^--?iree-hal-(?:target|local-target)/.test(flag))
    ? flags
    : [...HOST_DEFAULTS, ...flags];

/**
 * What a build with these flags is for, and would measure on.
 * @throws UsageError when the compiler does not say
 */
export async function siteOf(
  flags: readonly string[],
  surroundings: Surroundings,
): Promise<{ command: Command; site: Site }> {
  const { env, settings, root, cacheDirectory } = surroundings;
  const compiler = findCompiler(env, { compiler: settings.compiler, root, cacheDirectory });
  const command = await readCommand(['-', ...flags], compiler, cacheDirectory);
  const site = await describeSite(command, surroundings);
  if ('noSite' in site) throw new UserError(`${flags.join(' ')}: ${site.noSite.reason}`);
  return { command, site };
}

/**
 * An input with the compiler's flags, looked at as the wrapper would before it tunes; of an ONNX model what its importer makes.
 * @throws UserError when it cannot be read; PassedThroughError when the wrapper would pass it through
 */
export async function inspectInput(
  input: string,
  flags: readonly string[],
  surroundings: Surroundings,
): Promise<{ command: Command; inspected: Inspected }> {
  refuseUnreadable(input);
  const own = withTarget(flags);
  const { env, settings, root, cacheDirectory } = surroundings;
  const compiler = findCompiler(env, { compiler: settings.compiler, root, cacheDirectory });
  const path = isOnnx(input) ? await importOnnx(input, compiler, { env, root, cacheDirectory }) : input;
  const command = await readCommand([path, ...own], compiler, cacheDirectory);
  const inspected = await inspect(command, surroundings);
  if ('pass' in inspected) throw new PassedThroughError(input, inspected.pass);
  return { command, inspected: await withSurvey(inspected, command, surroundings) };
}

/** A compiler that is asked about a file that nobody can read says no more than that. */
function refuseUnreadable(input: string): void {
  if (input === '-') return;
  try {
    accessSync(input, constants.R_OK);
  } catch (error) {
    throw new UserError(`${input}: the input cannot be read: ${inWords(error)}`, { cause: error });
  }
  if (statSync(input).isDirectory()) throw new UserError(`${input} is a folder: name a file with MLIR in it`);
}
