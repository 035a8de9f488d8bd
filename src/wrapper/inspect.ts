// From the command line to the tunable operations: arguments, input, operations, workloads, target, device.
import { statSync } from 'node:fs';
import { isBytecode } from 'mlir-parser-ts';
import { backendNamed } from '../backend/index.ts';
import { candidateFlags, userTuningFlag } from '../compiler/flag-roles.ts';
import { hasFlag, lastValue, type CompilerArguments } from '../compiler/arguments.ts';
import type { Command } from '../compiler/command.ts';
import { skipped, type Decision } from '../decision/decision.ts';
import { chooseForms } from '../form/choose.ts';
import { isDisabledByComment } from '../input/disabled.ts';
import type { Input } from '../input/input.ts';
import { readInput, type InputText } from '../input/text.ts';
import { isTunable, type Skipped } from '../input/operation.ts';
import { operationsOf, type IsEnough, type ReadingOptions } from '../input/operations.ts';
import type { Inspected } from '../plan/inspected.ts';
import { mayPreprocess } from '../settings/settings.ts';
import type { Surroundings } from '../settings/surroundings.ts';
import { describeSite, noTuner, type NoSite, type Site } from '../site/site.ts';
import { takenStdin } from '../system/bytes.ts';
import { messageOf } from '../system/tell.ts';
import { because, type Reason } from '../system/reason.ts';

/** The compile goes on as the user gave it. */
export interface PassThrough {
  readonly pass: Reason;
  /** Operations that were seen before it was clear that nothing can be done. */
  readonly decisions: readonly Decision[];
  readonly input: InputText | undefined;
  /** Whether the same input would be passed on for the same reason again. */
  readonly lasting: boolean;
  /** The input again, when it came from stdin and is used up now. */
  readonly stdin: Uint8Array | undefined;
}

/** A command that is passed on before its input is read. */
export const unread = (pass: Reason, stdin?: Uint8Array): PassThrough => ({
  pass,
  decisions: [],
  input: undefined,
  lasting: false,
  stdin,
});

/** Reads the input and finds its tunable operations, or the reason to pass the command on. */
export async function inspect(
  command: Command,
  surroundings: Surroundings,
): Promise<Inspected | PassThrough> {
  const reason = whyUntouched(command.arguments);
  if (reason !== null) return unread(reason);
  const site = await describeSite(command, surroundings);
  // Without a tuner for the target, reading the input would only cost time.
  if (!('noSite' in site) && backendNamed(site.target.key) === undefined) return unread(noTuner(site.target));
  const input = await inspectInput(command, surroundings);
  return 'pass' in input ? input : inspectedAt(site, input);
}

/** An input with its site, or the reason to pass the command on. */
export function inspectedAt(site: Site | NoSite, input: Input): Inspected | PassThrough {
  if (!('noSite' in site)) return { input, site };
  return { ...passOn(site.noSite, input, input.reading.fromStdin), lasting: site.lasting };
}

/** The part that depends on arguments and input. The compiler is asked only if no build has asked before. */
export async function inspectInput(
  command: Command,
  surroundings: Surroundings,
): Promise<Input | PassThrough> {
  const { arguments: args } = command;
  const reason = whyUntouched(args);
  if (reason !== null) return unread(reason);
  const fromStdin = args.input!.kind === 'stdin';
  // A pipe can be read once, and a descriptor's path means another file in a child.
  if (args.input!.kind === 'file' && !isPlainFile(args.input!.path))
    return unread(because('input-not-a-file'));
  const text = await readOrNot(args, surroundings.cacheDirectory);
  if ('code' in text) return unread(text, takenStdin());
  const { bytes } = text;
  const pass = (why: Reason, decisions: readonly Decision[] = []) => passOn(why, text, fromStdin, decisions);
  if (!isBytecode(bytes) && isDisabledByComment(bytes)) return pass(because('disabled-by-comment'));
  if (namesDevices(bytes)) return pass(because('own-devices'));

  const reading = readingOf(args, fromStdin);
  const { settings } = surroundings;
  // A program in other forms has other operations, and a lock file decides by those that it knows.
  const mayBeFormed = mayHaveForms(reading, settings) && settings.lock === undefined && !settings.frozen;
  const isEnough: IsEnough = (rewritables) => mayBeFormed && chooseForms(rewritables).length > 0;
  const found = await operationsOf(text, command, reading, surroundings, { isEnough });
  if ('code' in found) return { ...pass(found), lasting: false };
  const { operations, rewritables } = found;
  if (!operations.some(isTunable) && chooseForms(rewritables).length === 0)
    return pass(
      because('nothing-to-tune'),
      operations.map((operation) => skipped(operation as Skipped)),
    );
  return { ...text, reading, ...found };
}

/** Paths of file descriptors: each process has its own. */
const DESCRIPTOR = /^\/(?:dev\/(?:std|fd)|proc\/)/;

const isPlainFile = (path: string): boolean =>
  !DESCRIPTOR.test(path) && statSync(path, { throwIfNoEntry: false })?.isFile() !== false;

/** Whether a program can be given to the compiler in other forms: a pipeline of the user's takes the place that it needs. */
export const mayHaveForms = (
  { ownPipeline, dataTiling }: ReadingOptions,
  { inject }: Surroundings['settings'],
): boolean => !ownPipeline && !dataTiling && mayPreprocess(inject);

/** A command whose input was read before that was clear. */
const passOn = (
  pass: Reason,
  input: InputText,
  fromStdin: boolean,
  decisions: readonly Decision[] = [],
): PassThrough => ({ pass, decisions, input, lasting: true, stdin: fromStdin ? input.bytes : undefined });

/** Attributes of targets and affinities. `hal.devices.get` asks for a device at run time and names none. */
const NAMED =
  /^hal\.(?:device\.(?:target|alias|affinity|promise|select|fallback|ordinal|optimal)|executable\.target)/;

/** Whether the input may choose its own targets. Bytecode holds these names as text, too. */
function namesDevices(bytes: Uint8Array): boolean {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let at = text.indexOf('hal.'); at >= 0; at = text.indexOf('hal.', at + 4))
    if (NAMED.test(text.toString('latin1', at, at + 24))) return true;
  return false;
}

function readingOf(args: CompilerArguments, fromStdin: boolean): ReadingOptions {
  return {
    fromStdin,
    dataTiling: candidateFlags(args.flags).some((flag) =>
      /^--iree-(?:opt|dispatch-creation|global-opt)-.*data-tiling(?!=(?:false|0)$)/.test(flag),
    ),
    ownPreprocessing: hasFlag(args, 'iree-preprocessing-transform-spec-filename'),
    ownPipeline: hasFlag(args, 'iree-preprocessing-pass-pipeline'),
  };
}

/** Commands that do not compile one input to the end, or that the user tunes. */
function whyUntouched(args: CompilerArguments): Reason | null {
  if (args.informational) return because('information-only');
  if (args.unclear !== null) return because('command-unclear', args.unclear);
  if (args.input === null) return because('no-input');
  // A new plan's output is held back: by then such a name means something else.
  if (args.output.kind === 'file' && DESCRIPTOR.test(args.output.path)) return because('output-descriptor');
  const tuning = userTuningFlag(args.flags);
  if (tuning !== null) return because('own-tuning', `${tuning} is given`);
  const to = lastValue(args, 'compile-to');
  if (to !== null && to !== 'end' && to !== 'vm') return because('partial-compile', `--compile-to=${to}`);
  const from = lastValue(args, 'compile-from');
  if (from !== null && from !== 'start' && from !== 'input')
    return because('partial-compile', `--compile-from=${from}`);
  const mode = lastValue(args, 'compile-mode');
  if (mode !== null && mode !== 'std') return because('partial-compile', `--compile-mode=${mode}`);
  return null;
}

/** The input, or why it is not looked at. */
async function readOrNot({ input }: CompilerArguments, cacheDirectory: string): Promise<InputText | Reason> {
  try {
    const text = await readInput(input!.kind === 'file' ? input!.path : null, cacheDirectory);
    return text ?? because('input-too-large', 'the input has too much text beside its weights');
  } catch (error) {
    return because('input-unreadable', `the input cannot be read: ${messageOf(error)}`);
  }
}
