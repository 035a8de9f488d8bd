// From the command line to the tunable operations: arguments, input, operations, workloads, target, device.
import { bufferOf } from '../system/bytes.ts';
import { statSync } from 'node:fs';
import { isBytecode } from 'mlir-parser-ts';
import { backendNamed } from '../backend/index.ts';
import { DESCRIPTOR } from '../compiler/untouched.ts';
import type { CompilerArguments } from '../compiler/arguments.ts';
import type { Command } from '../compiler/command.ts';
import { bytesOfFlags } from '../compiler/command-files.ts';
import { inputIdentity } from '../compiler/command-identity.ts';
import { skipped, type Decision } from '../decision/decision.ts';
import { chooseForms } from '../form/choose.ts';
import { isDisabledByComment } from '../input/scan.ts';
import { mayHaveForms, readingOf, type Input } from '../input/input.ts';
import { readInput, type InputText } from '../input/text.ts';
import { isTunable, type Skipped } from '../input/operation.ts';
import { operationsOf, type IsEnough } from '../input/operations.ts';
import { dynamicFunctions } from '../input/sizes-at-calls.ts';
import type { FormedProgram } from '../plan/inspected.ts';
import type { Settings } from '../settings/settings.ts';
import type { Surroundings } from '../settings/surroundings.ts';
import { describeSite, noTuner, type NoSite } from '../site/site.ts';
import { messageOf } from '../system/tell.ts';
import { because, isReason, type Reason } from '../system/reason.ts';

/** A command that runs untuned, and the reason. */
export interface Untuned extends Reason {
  /** The operations of the input, if the reason is that none is tunable. */
  readonly decisions: readonly Decision[];
  /** Undefined if the next compile of the same input can differ. */
  readonly input: InputText | undefined;
}

/** A command that runs untuned this time. */
export const untuned = ({ code, reason }: Reason): Untuned => ({
  ...{ code, reason },
  decisions: [],
  input: undefined,
});

/**
 * Reads the input and finds its tunable operations.
 * @returns the reason for a command without them; `NoSite` for a command for several targets, each of which is tuned alone
 */
export async function inspect(
  command: Command,
  surroundings: Surroundings,
): Promise<FormedProgram | Untuned | NoSite> {
  if (command.whyUntouched !== null) return untuned(command.whyUntouched);
  const site = await describeSite(command, surroundings);
  if (isReason(site) && site.targets.length > 0) return site;
  // Without a tuner for the target, reading the input would only cost time.
  if (!isReason(site) && backendNamed(site.target.key) === undefined) return untuned(noTuner(site.target));
  const input = await inspectInput(command, surroundings);
  if (isReason(input)) return input;
  return isReason(site) ? untuned(site) : { command, inspected: { input, site } };
}

/** The part of `inspect` that depends on arguments and input alone. It runs the compiler only if no survey of the input is cached. */
export async function inspectInput(command: Command, surroundings: Surroundings): Promise<Input | Untuned> {
  const { arguments: args, whyUntouched } = command;
  if (whyUntouched !== null) return untuned(whyUntouched);
  // A pipe can be read once, and a descriptor's path means another file in a child.
  if (args.input!.kind === 'file' && !isPlainFile(args.input!.path))
    return untuned(because('input-not-a-file'));
  const text = await readOrNot(args, surroundings.cacheDirectory);
  if (isReason(text)) return untuned(text);
  const { bytes } = text;
  const pass = (why: Reason, decisions: readonly Decision[] = []) => ({ ...why, decisions, input: text });
  if (!isBytecode(bytes) && isDisabledByComment(bytes)) return pass(because('disabled-by-comment'));
  if (namesDevices(bytes)) return pass(because('own-devices'));

  const reading = readingOf(args);
  const read = { ...text, reading, identity: inputIdentity(command, text.digest) };
  const { settings } = surroundings;
  // Other forms have other operations. A lock file decides by the operations that it lists.
  const mayBeFormed = mayHaveForms(reading, settings) && settings.lock === undefined && !settings.frozen;
  const isEnough: IsEnough = (rewritables) => mayBeFormed && chooseForms(rewritables).length > 0;
  const found = await operationsOf(read, command, surroundings, { isEnough });
  if (isReason(found)) return untuned(found);
  const { operations, rewritables } = found;
  if (!operations.some(isTunable) && chooseForms(rewritables).length === 0 && !hasCalls(bytes, settings))
    return pass(
      await whyNothing(bytes, operations as readonly Skipped[], settings),
      operations.map((operation) => skipped(operation as Skipped)),
    );
  return { ...read, ...found };
}

/** Whether the user gives sizes for a program with dynamic dimensions: its operations are others at known sizes. */
const hasCalls = (bytes: Uint8Array, { sizes }: Settings): boolean =>
  sizes.length > 0 && dynamicFunctions(bytes, sizes).some(({ calls }) => calls.length > 0);

/** The reason for a program without tunable operations. If sizes are missing, it names the ones that the program has. */
async function whyNothing(
  bytes: Uint8Array,
  operations: readonly Skipped[],
  { sizes }: Settings,
): Promise<Reason> {
  const nothing = because('nothing-to-tune');
  if (!operations.some(({ code }) => code === 'sizes-missing')) return nothing;
  const { missingSizes } = await import('../report/dynamic-sizes.ts');
  return { ...nothing, reason: `${nothing.reason}: ${missingSizes(bytes, sizes)}` };
}

const isPlainFile = (path: string): boolean =>
  !DESCRIPTOR.test(path) && statSync(path, { throwIfNoEntry: false })?.isFile() !== false;

/** Attributes of targets and affinities. `hal.devices.get` asks for a device at run time and names none. */
const NAMED =
  /^hal\.(?:device\.(?:target|alias|affinity|promise|select|fallback|ordinal|optimal)|executable\.target)/;

/** Whether the input may choose its own targets. Bytecode holds these names as text, too. */
function namesDevices(bytes: Uint8Array): boolean {
  const text = bufferOf(bytes);
  for (let at = text.indexOf('hal.'); at >= 0; at = text.indexOf('hal.', at + 4))
    if (NAMED.test(text.toString('latin1', at, at + 24))) return true;
  return false;
}

/** The input, or the reason why it is not read. */
async function readOrNot(args: CompilerArguments, cacheDirectory: string): Promise<InputText | Reason> {
  const { input } = args;
  const path = input!.kind === 'file' ? input!.path : null;
  try {
    const text = await readInput(path, cacheDirectory, undefined, bytesOfFlags(args.flags));
    return text ?? because('input-too-large', 'the input has too much text beside its weights');
  } catch (error) {
    return because('input-unreadable', `the input cannot be read: ${messageOf(error)}`);
  }
}
