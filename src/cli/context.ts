// The settings, the compiler, the input and the database of a command.
import { accessSync, constants, statSync } from 'node:fs';
import type { Device } from '../backend/device.ts';
import { DRIVERS, loadBackendOfDriver } from '../backend/index.ts';
import {
  findCompiler,
  findMeasuringTools,
  type FoundCompiler,
  type MeasuringTools,
} from '../compiler/find.ts';
import { askCompiler } from '../compiler/ask.ts';
import { siteFor } from '../decision/for-device.ts';
import { commandFor } from '../populate/site.ts';
import type { FormedProgram, Inspected } from '../plan/inspected.ts';
import { inspect, withSurvey } from '../wrapper/inspect.ts';
import type { Surroundings } from '../settings/surroundings.ts';
import { readCommand, withTrailingFlags, type Command } from '../compiler/command.ts';
import { whyUnknown } from '../compiler/untouched.ts';
import { partsOf, type Part } from '../wrapper/several-targets.ts';
import { takenStdin } from '../system/bytes.ts';
import { resultOr } from '../system/result-or.ts';
import { UserError } from '../system/user-error.ts';
import { describeSite, questionAbout, type Site } from '../site/site.ts';
import { isServer } from '../settings/address.ts';
import { readSettings, SettingsError, type Name } from '../settings/index.ts';
import { variableOf } from '../settings/settings.ts';
import type { Exchange } from '../store/exchange/exchange.ts';
import { openStore } from '../store/open.ts';
import { openExchange } from '../store/open-exchange.ts';
import type { Store } from '../store/store.ts';
import { packageRoot } from '../system/package-root.ts';
import type { CliCommand } from './command.ts';
import { warn } from './output.ts';
import { isReason, type Reason } from '../system/reason.ts';
import { refusalOf } from './files.ts';

/** The command line is invalid; the message says how to write it. */
export class UsageError extends UserError {
  override readonly name = 'UsageError';
}

/** The wrapper would pass an input through. */
export class PassedThroughError extends UserError {
  override readonly name = 'PassedThroughError';
  readonly why: Reason;

  constructor(input: string, why: Reason) {
    super(`${input}: ${why.reason}`);
    this.why = why;
  }
}

type Given = Readonly<Partial<Record<Name, string>>>;

/** Settings in a command's options. */
function givenSettings(command: CliCommand, extra: Given = {}): [Name, string][] {
  const { db, compiler, device, team, budget } = command.optsWithGlobals<Given>();
  const given = Object.entries({ db, compiler, device, team, budget, ...extra });
  return given.filter((entry): entry is [Name, string] => entry[1] !== undefined);
}

/**
 * The settings of a command. Its options come first.
 * @param extra settings before all others
 */
export const settingsOf = (command: CliCommand, extra: Given = {}) =>
  readSettings(process.env, new Map(givenSettings(command, extra)), '--');

/** Variables that give the settings of a command's options to a build. */
export const variablesOf = (command: CliCommand, extra: Given = {}): Readonly<Record<string, string>> =>
  Object.fromEntries(givenSettings(command, extra).map(([name, value]) => [variableOf(name), value]));

/**
 * @param extra settings before all others
 * @throws SettingsError for an invalid setting
 */
export function surroundingsOf(command: CliCommand, extra: Given = {}): Surroundings {
  const { settings, problems, refused } = settingsOf(command, extra);
  if (problems.length > 0) throw new SettingsError(problems.join('\n'));
  for (const message of refused) warn(message);
  return { env: process.env, settings, root: packageRoot, cacheDirectory: settings.cache };
}

/** Opens the database to write. */
export function openDatabase({ settings }: Surroundings): Promise<Store> {
  return openStore(settings.database, { readonly: settings.readonly, onMigrated: warn });
}

/**
 * Opens the database to read: nothing is written, a migration included.
 * @throws UserError without a database
 */
export function openToRead(surroundings: Surroundings): Promise<Store> {
  requireDatabase(surroundings);
  return openStore(surroundings.settings.database, { readonly: true });
}

/** Opens the database to read; null without a database. */
export const openIfThere = async (surroundings: Surroundings): Promise<Store | null> =>
  isThere(surroundings) ? openToRead(surroundings) : null;

/**
 * Refuses a missing database: a mistyped name must not create one.
 * @throws UserError
 */
export function requireDatabase(surroundings: Surroundings): void {
  if (!isThere(surroundings))
    throw new UserError(
      `there is no tuning database ${surroundings.settings.database}: builds and iree-tuned tune create it; ` +
        `--db or IREE_TUNED_DB names another one`,
    );
}

/** Whether the database exists. True for a path that cannot be examined: opening it gives the reason. */
export function isThere({ settings: { database } }: Surroundings): boolean {
  try {
    return isServer(database) || statSync(database, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return true;
  }
}

/**
 * The input of a build for the device of the setting `for-device`, else for this machine.
 * @throws UnknownDeviceError
 */
export function atDevice(inspected: Inspected, store: Store | null, { settings }: Surroundings): Inspected {
  const { forDevice } = settings;
  return forDevice === undefined
    ? inspected
    : { ...inspected, site: siteFor(inspected.site, forDevice, store ?? { devices: () => [] }) };
}

/** The device of the setting, else this machine's CPU; the reason if it is not found. */
export async function describeDeviceHere(surroundings: Surroundings): Promise<Device | string> {
  const { device: driver = 'local-task' } = surroundings.settings;
  const backend = await loadBackendOfDriver(driver);
  const compiler = resultOr(() => compilerOf(surroundings), null);
  return backend === undefined
    ? `device ${driver} has no tuner: set device to ${DRIVERS.join(', ')}`
    : backend.devices.describe(driver, questionAbout(compiler, surroundings));
}

/** @throws CompilerNotFoundError */
export const compilerOf = ({ env, settings, root, cacheDirectory }: Surroundings): FoundCompiler =>
  findCompiler(env, { compiler: settings.compiler, root, cacheDirectory });

/**
 * Tools that measure at a site.
 * @throws UserError if the tools are missing, or if nothing can be measured here
 */
export function measuringToolsAt(
  { command: { compiler }, site }: { command: Pick<Command, 'compiler'>; site: Site },
  surroundings: Surroundings,
): MeasuringTools {
  if (site.whyNotHere !== null)
    throw new UserError(`nothing can be measured here: ${site.whyNotHere.reason}`);
  const tools = findMeasuringTools(compiler, surroundings.env, surroundings);
  if (tools !== null) return tools;
  throw new UserError(
    `iree-benchmark-module and iree-run-module of ${compiler.executable} are not found: pip install iree-base-runtime`,
  );
}

/** All lines of the database, to read and write. */
export const openWholeDatabase = ({ settings }: Surroundings): Exchange =>
  openExchange(settings.database, { readonly: settings.readonly, onMigrated: warn });

/** Flags of a compile for this machine's CPU. */
export const HOST_DEFAULTS = [
  '--iree-hal-target-device=local',
  '--iree-hal-local-target-device-backends=llvm-cpu',
  '--iree-llvmcpu-target-cpu=host',
];

/** The flags, with this machine as the target if the flags name none. */
export const withTarget = (flags: readonly string[]): readonly string[] =>
  flags.some((flag) => /^--?iree-hal-(?:target|local-target)/.test(flag))
    ? flags
    : [...HOST_DEFAULTS, ...flags];

/**
 * The site of a build with these flags.
 * @throws UserError when the compiler reports no target, or a flag may write a file
 */
export async function siteOf(
  flags: readonly string[],
  surroundings: Surroundings,
): Promise<{ command: Command; site: Site }> {
  const command = await readCommand(['-', ...flags], compilerOf(surroundings), surroundings);
  const unknown = whyUnknown(command.arguments);
  if (unknown !== null) throw new UserError(`${flags.join(' ')}: ${unknown.reason}`);
  const site = await describeSite(command, surroundings);
  if (isReason(site)) throw new UserError(`${flags.join(' ')}: ${site.reason}`);
  return { command, site };
}

/**
 * Inspects an input as the wrapper does before it tunes. An ONNX model is imported first.
 * @throws UserError for an input that cannot be read or compiled; PassedThroughError when the wrapper would pass the input through
 */
export async function inspectInput(
  input: string,
  flags: readonly string[],
  surroundings: Surroundings,
): Promise<FormedProgram> {
  const command = await readableCommand(input, flags, surroundings);
  const found = await inspect(command, surroundings);
  return isReason(found) ? refuse(input, found, command) : withSurvey(found, surroundings);
}

/** Refuses an input without operations to tune: with the compiler's errors if it has any. */
async function refuse(input: string, why: Reason, { compiler, expanded }: Command): Promise<never> {
  if (why.code === 'nothing-to-tune' || why.code === 'not-compiled') {
    const argv = withTrailingFlags(expanded, ['--compile-to=flow', '-o', '/dev/null']);
    const { code, stderr } = await askCompiler(compiler.executable, argv, {
      env: process.env,
      stdin: takenStdin(),
    });
    const said = stderr.toString().trim();
    if (code !== 0 && said !== '') throw new UserError(said);
  }
  throw new PassedThroughError(input, why);
}

/** An inspected input for one target. */
export type InspectedPart = Omit<Part, 'backend'>;

/**
 * Inspects an input for each target of the flags. Of several targets, those without a tuner are left out.
 * @throws as `inspectInput`
 */
export async function inspectEach(
  input: string,
  flags: readonly string[],
  surroundings: Surroundings,
): Promise<readonly InspectedPart[]> {
  const command = await readableCommand(input, flags, surroundings);
  const found = await inspect(command, surroundings);
  if (!isReason(found)) return [{ ...(await withSurvey(found, surroundings)), surroundings }];
  const parts = 'targets' in found ? await partsOf(found, command, surroundings) : found;
  if (isReason(parts)) return refuse(input, parts, command);
  if (parts.open.length === 0) throw new PassedThroughError(input, found);
  return parts.open;
}

/** The command of a build of an input, for this machine by default. Refuses an unreadable file: the compiler's message has no reason. */
export function readableCommand(
  input: string,
  flags: readonly string[],
  surroundings: Surroundings,
): Promise<Command> {
  try {
    if (input !== '-') accessSync(input, constants.R_OK);
  } catch (error) {
    throw new UserError(`${input}: the input cannot be read: ${refusalOf(error)}`, { cause: error });
  }
  if (statSync(input, { throwIfNoEntry: false })?.isDirectory() === true)
    throw new UserError(`${input} is a folder: name a file with MLIR in it`);
  return commandFor(input, withTarget(flags), surroundings);
}

/** Adds the input to an error. */
export const named =
  (input: string) =>
  (error: unknown): never => {
    throw error instanceof UserError ? new UserError(`${input}: ${error.message}`, { cause: error }) : error;
  };
