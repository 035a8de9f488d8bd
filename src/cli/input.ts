// The compiler, the target and the input of a command, as a build has them.
import { accessSync, constants, statSync } from 'node:fs';
import type { Device } from '../backend/device.ts';
import { DRIVERS, loadBackendOfDriver } from '../backend/index.ts';
import { askCompiler } from '../compiler/ask.ts';
import { withTrailingFlags, type Command } from '../compiler/command.ts';
import { findMeasuringTools, type MeasuringTools } from '../compiler/find.ts';
import { siteFor } from '../decision/for-device.ts';
import type { FormedProgram, Inspected } from '../plan/inspected.ts';
import { withSurvey } from '../input/operations.ts';
import { commandFor, compilerOf } from '../populate/site.ts';
import type { Surroundings } from '../settings/surroundings.ts';
import { describeDevice, questionAbout, type Site } from '../site/site.ts';
import type { Store } from '../store/store.ts';
import { takenStdin } from '../system/bytes.ts';
import { isReason, type Reason } from '../system/reason.ts';
import { resultOr } from '../system/result-or.ts';
import { UserError } from '../system/user-error.ts';
import { inspect } from '../wrapper/inspect.ts';
import { partsOf, type Part } from '../wrapper/several-targets.ts';
import { unknownSizes } from '../report/dynamic-sizes.ts';
import { orRefusal } from '../system/user-files.ts';
import { warn } from './output.ts';

/** The wrapper would pass an input through. */
export class PassedThroughError extends UserError {
  override readonly name = 'PassedThroughError';
  readonly why: Reason;

  constructor(input: string, why: Reason) {
    super(`${input}: ${why.reason}`);
    this.why = why;
  }
}

/** The device of the setting, else this machine's CPU; the reason if it is not found. */
export async function describeDeviceHere(surroundings: Surroundings): Promise<Device | string> {
  const { device: driver = 'local-task' } = surroundings.settings;
  const backend = await loadBackendOfDriver(driver);
  const compiler = resultOr(() => compilerOf(surroundings), null);
  return backend === undefined
    ? `device ${driver} has no tuner: set device to ${DRIVERS.join(', ')}`
    : describeDevice(backend, driver, questionAbout(compiler, surroundings));
}

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
  return isReason(found) ? refuse(input, found, command) : surveyed(found, surroundings);
}

function surveyed(found: FormedProgram, surroundings: Surroundings): Promise<FormedProgram> {
  const problem = unknownSizes(found.inspected.input.bytes, surroundings.settings.sizes);
  if (problem !== null) warn(problem);
  return withSurvey(found, surroundings);
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
  if (!isReason(found)) return [{ ...(await surveyed(found, surroundings)), surroundings }];
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
  orRefusal(`${input}: the input cannot be read`, () => {
    if (input !== '-') accessSync(input, constants.R_OK);
  });
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

/**
 * The site of a build for the device of the setting `for-device`, else for this machine.
 * @throws UnknownDeviceError
 */
export const siteAt = (site: Site, store: Store | null, { settings: { forDevice } }: Surroundings): Site =>
  forDevice === undefined ? site : siteFor(site, forDevice, store ?? { devices: () => [] });

/** The input of a build at `siteAt`. */
export const atDevice = (
  inspected: Inspected,
  store: Store | null,
  surroundings: Surroundings,
): Inspected => ({
  ...inspected,
  site: siteAt(inspected.site, store, surroundings),
});
