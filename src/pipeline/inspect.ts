// From the command line to what could be tuned: arguments, input, operations, workloads, target, device.
import { statSync } from 'node:fs';
import { isBytecode } from 'mlir-parser-ts';
import {
  describeCompiler,
  expandResponseFiles,
  hasFlag,
  isText,
  lastValue,
  loadOptionTable,
  readArguments,
  readResponseFile,
  type CompilerArguments,
  type CompilerDescription,
  type FoundCompiler,
} from '../compiler/index.ts';
import type { Settings } from '../settings/index.ts';
import { isDecision, type Decision, type TunableOperation } from '../decision/decision.ts';
import { describeDevice, deviceKey, type Device } from '../target/device.ts';
import { candidateFlags, codegenFlags, userTuningFlag } from '../target/flags.ts';
import { isBefore } from '../space/render.ts';
import { HOST_FLAGS, probeTargets, type ProbedTarget } from '../target/probe.ts';
import { whyNotRunnable } from '../target/target.ts';
import { readBytes, readStdin } from './bytes.ts';
import { createDigest } from './digest.ts';
import { isDisabledByComment } from './disabled.ts';
import { operationsOf, type ReadingOptions } from './operations.ts';

/** Where everything of one run comes from. */
export interface Surroundings {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly settings: Settings;
  /** Folder of the installed package. */
  readonly root: string;
  readonly cacheDirectory: string;
}

/** The command that the user gave, and the compiler that it is for. */
export interface Command {
  readonly compiler: FoundCompiler;
  /** As given, without our own flags. */
  readonly argv: readonly string[];
  /** The same with response files expanded; indices in `arguments` refer to it. */
  readonly expanded: readonly string[];
  readonly arguments: CompilerArguments;
}

/** Everything that a lookup needs. */
export interface Subjects {
  readonly bytes: Uint8Array;
  /** Names the bytes. */
  readonly digest: string;
  readonly description: CompilerDescription;
  readonly target: ProbedTarget;
  readonly device: Device;
  readonly deviceKey: string;
  /** Flags that candidates are compiled with. */
  readonly flags: readonly string[];
  readonly reading: ReadingOptions;
  /** Decisions that are already made, and operations that are to be looked up. */
  readonly operations: readonly (TunableOperation | Decision)[];
  readonly surveyed: boolean;
  /** Why nothing can be measured for this target here; null when it can. */
  readonly whyNotHere: string | null;
}

/** The compile goes on as the user gave it. */
export interface PassThrough {
  readonly pass: string;
  /** Operations that were seen before it was clear that nothing can be done. */
  readonly decisions: readonly Decision[];
  readonly input: Uint8Array | undefined;
  /** Whether the same input would be passed on for the same reason again. */
  readonly lasting: boolean;
  /** The input again, when it came from stdin and is used up now. */
  readonly stdin: Uint8Array | undefined;
}

export async function readCommand(
  argv: readonly string[],
  compiler: FoundCompiler,
  { cacheDirectory }: Surroundings,
): Promise<Command> {
  const expansion = expandResponseFiles(argv, readResponseFile);
  const table = await loadOptionTable(compiler.executable, cacheDirectory);
  const args = readArguments(expansion.argv, table);
  return {
    compiler,
    argv,
    expanded: expansion.argv,
    arguments: {
      ...args,
      unclear: argv.every(isText) ? (expansion.problem ?? args.unclear) : 'an argument is not UTF-8',
    },
  };
}

/** A command that is passed on before its input is read. */
export const unread = (pass: string, stdin?: Uint8Array): PassThrough => ({
  pass,
  decisions: [],
  input: undefined,
  lasting: false,
  stdin,
});

/** Reads the input and finds out what is to be looked up, or why the command is to be passed on. */
export async function inspect(command: Command, surroundings: Surroundings): Promise<Subjects | PassThrough> {
  const { arguments: args, compiler } = command;
  const reason = whyUntouched(args);
  if (reason !== null) return unread(reason);
  const fromStdin = args.input!.kind === 'stdin';
  // What is read from a pipe is gone for the compiler.
  if (
    args.input!.kind === 'file' &&
    statSync(args.input!.path, { throwIfNoEntry: false })?.isFile() === false
  )
    return unread('the input is not a plain file');
  const bytes = readInput(args);
  if (bytes === null) return unread('the input cannot be read');
  const pass = (why: string, decisions: readonly Decision[] = []): PassThrough => ({
    pass: why,
    decisions,
    input: bytes,
    lasting: true,
    stdin: fromStdin ? bytes : undefined,
  });
  if (!isBytecode(bytes) && isDisabledByComment(bytes)) return pass('a comment in the input disables tuning');
  if (namesDevices(bytes)) return pass('the input names its own devices');

  const reading = readingOf(args, fromStdin);
  let known: string | undefined;
  const digest = async () => (known ??= (await createDigest())([bytes]));
  const input = await operationsOf(bytes, digest, command, reading, surroundings);
  if (typeof input === 'string') return { ...pass(input), lasting: false };
  const { operations } = input;
  if (operations.every(isDecision))
    return pass(
      operations.length === 0 ? 'no contractions in the input' : 'nothing to tune in the input',
      operations,
    );

  const { cacheDirectory, settings } = surroundings;
  const executable = compiler.executable;
  const description = await describeCompiler(executable, cacheDirectory);
  const device = describeDevice(settings.device);
  const flags = candidateFlags(args.flags);
  const probe = (of: readonly string[], own: readonly string[]) =>
    probeTargets(executable, of, own, device.model, cacheDirectory);
  const { targets, problem } = await probe(flags, codegenFlags(args.flags));
  const target = targets[0];
  if (target === undefined)
    return { ...pass(`the target is not known: ${problem ?? 'the compiler names none'}`), lasting: false };
  if (targets.length > 1) return pass('several target devices');

  const host = (await probe(HOST_FLAGS, [])).targets[0]?.target ?? null;
  const whyNotHere = device.driver.startsWith('local-')
    ? whyNotRunnable(target.target, host, process.arch)
    : `no tuner for device ${device.driver} yet`;
  return {
    bytes,
    digest: await digest(),
    description,
    target,
    device,
    deviceKey: deviceKey(device),
    flags,
    reading,
    ...input,
    whyNotHere,
  };
}

/** Whether the flags may not say what code is generated for. Bytecode holds these names as text, too. */
function namesDevices(bytes: Uint8Array): boolean {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  // Inputs can be gigabytes of weights: one pass.
  for (let at = text.indexOf('hal.'); at >= 0; at = text.indexOf('hal.', at + 4))
    if (/^hal\.(?:device|executable\.target)/.test(text.toString('latin1', at, at + 24))) return true;
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

/** Whether operations may be data-tiled one by one: the user has not decided about it, and nothing is in our way. */
export const canDataTile = ({ reading, description, target }: Subjects, { inject }: Settings): boolean =>
  (inject === 'auto' || inject === 'preprocess') &&
  !reading.dataTiling &&
  !reading.ownPreprocessing &&
  target.target.backend === 'llvm-cpu' &&
  !isBefore(description.release, 3, 11);

/** Whether a tuning spec can say how packed operations are tiled: see `tuningSpecFlags` about pipelines. */
export const canTilePacked = ({ reading, description }: Subjects): boolean =>
  !reading.ownPipeline && !isBefore(description.release, 3, 12);

/** Commands that do not compile one input to the end, or that the user tunes. */
function whyUntouched(args: CompilerArguments): string | null {
  if (args.informational) return 'only information is asked for';
  if (args.unclear !== null) return args.unclear;
  if (args.input === null) return 'no input file';
  // A new plan's output is held back: by then such a name means something else.
  if (args.output.kind === 'file' && /^\/(?:dev\/(?:std|fd)|proc\/)/.test(args.output.path))
    return 'the output is a descriptor';
  const tuning = userTuningFlag(args.flags);
  if (tuning !== null) return `${tuning} is given`;
  const to = lastValue(args, 'compile-to');
  if (to !== null && to !== 'end' && to !== 'vm') return `--compile-to=${to}`;
  const from = lastValue(args, 'compile-from');
  if (from !== null && from !== 'start' && from !== 'input') return `--compile-from=${from}`;
  const mode = lastValue(args, 'compile-mode');
  if (mode !== null && mode !== 'std') return `--compile-mode=${mode}`;
  return null;
}

function readInput(args: CompilerArguments): Uint8Array | null {
  try {
    return args.input!.kind === 'stdin' ? readStdin() : readBytes(args.input!.path);
  } catch {
    return null;
  }
}

/** The tunable operations of an inspection, each with its own workload. */
export function tunables(subjects: Subjects): TunableOperation[] {
  return subjects.operations.filter((operation): operation is TunableOperation => !isDecision(operation));
}
