// Compiles many candidates as one module, and finds the candidates that the compiler refuses.
import { availableParallelism } from 'node:os';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { WholeProgram } from '../backend/backend.ts';
import { isDefault, type Configuration } from '../backend/configuration.ts';
import { backendOf, meterOf } from '../backend/index.ts';
import { NO_CHECKS } from '../compiler/command.ts';
import { preprocessingFlags, preprocessingSpec } from '../spec/preprocessing.ts';
import { whenHung } from '../system/limits.ts';
import {
  candidatePhase,
  hasConstants,
  rotates,
  workloadFlops,
  type OperationWork,
} from '../workload/workload.ts';
import {
  candidateAtLine,
  candidateFunctions,
  candidateModule,
  candidateOf,
  declaringFillers,
  EMPTY_MODULE,
  type Candidate,
} from './candidate-module.ts';
import { compiledFillers, moduleAt, NO_CONVERSION } from './common-modules.ts';
import { countdown, runCompiler, type ToolResult, type Toolchain } from './toolchain.ts';

/** Result of a build. A candidate that is neither built nor refused ran out of time, or fails only together with others. */
export interface Build {
  /** Path of the compiled module; null when no candidate compiles. */
  readonly module: string | null;
  readonly built: readonly Candidate[];
  /** Reasons by the names of refused candidates. */
  readonly refused: ReadonlyMap<string, string>;
}

export const isBuilt = ({ built }: Build, name: string): boolean => built.some((one) => one.name === name);

/** Limits of a compile's work within its time-out. A candidate takes about 0.1 s. */
const SECONDS_PER_CANDIDATE = 3;
const LEAST_SECONDS = 20;

/** A compiler that uses no CPU time for this long hangs. On a busy machine it still makes progress. */
const STALL_SECONDS = 4;

/** Share of the remaining time in which a compile of several candidates may work. The rest is for finding culprits. */
const WORK_SHARE = 0.5;

/**
 * A linked module is one unit of code for one thread. Unlinked code costs 0.15 s more for each candidate, and this many threads gain
 * less than that cost.
 */
const FEW_THREADS = 2;

/** Whether one thread compiles a module, so that two modules can be compiled at once. */
export const isLinked = (): boolean => availableParallelism() <= FEW_THREADS;

/**
 * Commands of a call are recorded at each call, not once when the module is loaded. That takes half a microsecond, which is little for so
 * many operations on numbers, and compiles in a sixth less time.
 */
export const NOT_RECORDED = '--iree-hal-memoization=false';
const FLOPS_OF_LONG_CALLS = 1e7;

const NO_LOCATION = 'the compiler failed without naming a location';

/** Whether a candidate is the untuned operation, the reference of the other candidates. */
const isReference = ({ attribute, sumsIn }: Candidate) => attribute === null && sumsIn === undefined;

/**
 * Compiles `candidates` together as `name`.vmfb, without those that the compiler refuses.
 * @param timeoutSeconds for all compiles together
 * @throws StoppedError when the toolchain's signal fires
 */
export async function buildCandidates(
  toolchain: Toolchain,
  workload: OperationWork,
  candidates: readonly Candidate[],
  name: string,
  timeoutSeconds = Infinity,
): Promise<Build> {
  const refused = new Map<string, string>();
  const nothing: Build = { module: null, built: [], refused };
  const secondsLeft = countdown(timeoutSeconds);
  const compile = (some: readonly Candidate[], workSeconds: number) =>
    compileOnce(toolchain, workload, some, name, { seconds: secondsLeft(), workSeconds });
  /** Compiles again without candidates that the compiler blames. */
  const build = async (some: readonly Candidate[], share: number): Promise<Build> => {
    let built = some;
    while (built.length > 0 && secondsLeft() > 0) {
      const { module, blamed } = await compile(built, share * secondsLeft());
      if (module !== null) return { module, built, refused };
      for (const [candidate, reason] of blamed) refused.set(candidate, reason);
      if (blamed.size === 0) break;
      built = built.filter((one) => !refused.has(one.name));
    }
    return nothing;
  };
  const together = await build(candidates, candidates.length > 1 ? WORK_SHARE : 1);
  const suspects = candidates
    .filter(({ name }) => !refused.has(name))
    .sort((a, b) => Number(isReference(b)) - Number(isReference(a)));
  if (together.module !== null || suspects.length === 0) return together;

  // A crash or a time-out names no culprit, so each candidate is compiled alone.
  const sound: Candidate[] = [];
  const known = refused.size;
  for (const [i, suspect] of suspects.entries()) {
    if (secondsLeft() <= 0) break;
    const seconds = Math.max(SECONDS_PER_CANDIDATE, secondsLeft() / (suspects.length - i + 1));
    // A short time-out does not prove that the candidate is slow to compile.
    const isShort = secondsLeft() < seconds;
    const { module, blamed, isLate } = await compile([suspect], seconds);
    if (module !== null) sound.push(suspect);
    else if (!isLate && isReference(suspect) && suspects.length > 1) {
      // The cause lies elsewhere, such as a full disk.
      for (const one of suspects) refused.set(one.name, 'the compiler failed on the default too');
      return nothing;
    } else if (!isLate || !isShort) refused.set(suspect.name, blamed.get(suspect.name) ?? NO_LOCATION);
  }
  // Without a culprit all of them would fail together again, but half of them may not.
  const own = sound.filter((one) => !isReference(one));
  const leftOut = refused.size > known ? [] : own.slice(Math.ceil(own.length / 2));
  return build(
    candidates.filter((one) => sound.includes(one) && !leftOut.includes(one)),
    1,
  );
}

const SECONDS_TO_A_PHASE = 10;

/** Text of a module with one operation of this configuration, after a phase of the compiler; null when the compile fails. */
export async function textAfter(
  toolchain: Toolchain,
  workload: OperationWork,
  configuration: Configuration,
  phase: string,
): Promise<Uint8Array | null> {
  const candidate = candidateOf('only', configuration, workload, toolchain.release);
  const [source, made] = ['phase.mlir', 'phase.made.mlir'].map((name) => join(toolchain.workDirectory, name));
  await writeFile(source!, candidateModule(workload, [candidate]));
  const flags = [...toolchain.flags, ...(await wholeProgramFlags(toolchain, [candidate], 'phase'))];
  const argv = [...flags, `--compile-to=${phase}`, source!, '-o', made!];
  const { ok } = await runCompiler(toolchain, argv, SECONDS_TO_A_PHASE);
  return ok ? readFile(made!) : null;
}

/**
 * @param seconds the time-out, which includes the time in which the compiler stands still
 * @param workSeconds most CPU time
 */
async function compileOnce(
  toolchain: Toolchain,
  workload: OperationWork,
  candidates: readonly Candidate[],
  name: string,
  { seconds, workSeconds }: { readonly seconds: number; readonly workSeconds: number },
): Promise<{ module: string | null; blamed: Map<string, string>; isLate: boolean }> {
  const phase = candidatePhase(workload);
  const [fillers, empty] = await Promise.all([
    compiledFillers(toolchain, workload, 'exact'),
    phase === null ? EMPTY_MODULE : moduleAt(phase, toolchain, EMPTY_MODULE),
  ]);
  if (fillers === null || empty === null) return { module: null, blamed: new Map(), isLate: false };
  const meter = meterOf(toolchain.device);
  const flops = workloadFlops(workload);
  const repeats = meter.repeats(toolchain.device, flops);
  // The compiler's repetitions read the same buffers, which then lie in a cache.
  const executions = meter.isInOrder && rotates(workload) ? repeats : 1;
  let text = candidateModule(workload, candidates, declaringFillers(empty, workload), executions);
  const source = join(toolchain.workDirectory, `${name}.mlir`);
  const module = join(toolchain.workDirectory, `${name}.vmfb`);
  await writeFile(source, text);
  const flags = [
    ...[...toolchain.flags, NO_CONVERSION, NO_CHECKS, `--iree-hal-link-executables=${isLinked()}`],
    ...(repeats > executions ? [`--iree-hal-benchmark-dispatch-repeat-count=${repeats}`] : []),
    ...(repeats === 1 && flops > FLOPS_OF_LONG_CALLS ? [NOT_RECORDED] : []),
    // Constant operands are filled when the module is loaded. Constant evaluation would store them in every module.
    ...(hasConstants(workload) ? ['--iree-opt-const-eval=false'] : []),
    ...(await wholeProgramFlags(toolchain, candidates, name)),
    ...(phase === null ? [] : [`--compile-from=${phase}`]),
  ];
  const longest = Math.max(LEAST_SECONDS, SECONDS_PER_CANDIDATE * (candidates.length + 1));
  const compile = (...argv: string[]) =>
    runCompiler(toolchain, [...flags, ...argv], seconds, {
      // The work folder is removed at the end, with the temporary files of a killed compiler.
      env: { TMPDIR: toolchain.workDirectory },
      limits: [whenHung({ stallSeconds: STALL_SECONDS, workSeconds: Math.min(workSeconds, longest) })],
    });
  let result: ToolResult;
  const late = lateAnnotations(candidates);
  if (late !== undefined) {
    const stopped = join(toolchain.workDirectory, `${name}.${late.phase}.mlir`);
    result = await compile(`--compile-to=${late.phase}`, source, '-o', stopped);
    if (result.ok) {
      text = annotated(await readFile(stopped, 'utf8'), candidates, (...line) => late.annotate(...line));
      await writeFile(stopped, text);
      result = await compile(`--compile-from=${late.phase}`, stopped, '-o', module);
    }
  } else result = await compile(source, '-o', module);
  // The compiler can exit with 0 and write only a crash reproducer.
  const written = result.ok && (await stat(module).catch(() => null)) !== null;
  if (written) return { module, blamed: new Map(), isLate: false };
  const blamed = new Map<string, string>();
  for (const match of result.stderr.matchAll(/^[^\n]*?\.mlir:(\d+):\d+: error: ([^\n]*)/gm)) {
    const candidate = candidateAtLine(text, Number(match[1]));
    if (candidate !== null && !blamed.has(candidate)) blamed.set(candidate, match[2]!);
  }
  return { module: null, blamed, isLate: result.timedOut };
}

/**
 * Flags for a module with candidates that need a change of the whole module. The change must not affect the other candidates.
 * @param name of the module; the spec's file in the work folder has the same name
 */
export async function wholeProgramFlags(
  { workDirectory }: Pick<Toolchain, 'workDirectory'>,
  candidates: readonly Candidate[],
  name: string,
): Promise<string[]> {
  const needy = configured(candidates).filter(
    ({ wholeProgram, configuration }) => wholeProgram.needsOf(configuration) !== null,
  );
  if (needy.length === 0) return [];
  const all = [...new Set(needy.map(({ wholeProgram }) => wholeProgram))];
  const path = join(workDirectory, `${name}.whole-program.mlir`);
  const rules = all.flatMap((one) => one.rules);
  await writeFile(path, preprocessingSpec([], rules));
  return [...preprocessingFlags(path), ...all.flatMap(({ flags }) => flags)];
}

/** Annotates operations that exist only after a phase of the compiler; undefined if no candidate has such operations. */
export const lateAnnotations = (candidates: readonly Candidate[]): WholeProgram['late'] | undefined =>
  configured(candidates).find(({ wholeProgram, configuration }) => wholeProgram.late.isNeeded(configuration))
    ?.wholeProgram.late;

/** Candidates whose backend has a `wholeProgram` part. */
const configured = (candidates: readonly Candidate[]) =>
  candidates.flatMap(({ configuration }) => {
    if (configuration === undefined || isDefault(configuration)) return [];
    const { wholeProgram } = backendOf(configuration);
    return wholeProgram === undefined ? [] : [{ configuration, wholeProgram }];
  });

/** Annotates the operations in the compiler's text of a module, each with its candidate's configuration. */
export function annotated(
  text: string,
  candidates: readonly Candidate[],
  annotate: WholeProgram['late']['annotate'],
): string {
  const configurations = new Map(candidates.map(({ name, configuration }) => [name, configuration]));
  const lines = text.split('\n');
  for (const { candidate, firstLine, lastLine } of candidateFunctions(text)) {
    const configuration = configurations.get(candidate);
    if (configuration === undefined) continue;
    for (let line = firstLine - 1; line < lastLine; line++)
      lines[line] = annotate(lines[line]!, configuration);
  }
  return lines.join('\n');
}
