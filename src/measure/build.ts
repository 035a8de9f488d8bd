// Compiles many candidates as one module, and finds the candidates that the compiler refuses.
import { meterOf } from '../backend/index.ts';
import {
  candidatePhase,
  hasConstants,
  rotates,
  workloadFlops,
  type OperationWork,
} from '../workload/workload.ts';
import { availableParallelism } from 'node:os';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Configuration } from '../backend/configuration.ts';
import { whenHung } from '../system/stall.ts';
import {
  candidateAtLine,
  candidateModule,
  candidateOf,
  declaringFillers,
  EMPTY_MODULE,
  type Candidate,
} from './candidate-module.ts';
import { compiledFillers, moduleAt, NO_CONVERSION } from './common-modules.ts';
import { annotated, lateAnnotations, wholeProgramFlags } from './whole-program.ts';
import { runCompiler, type ToolResult, type Toolchain } from './toolchain.ts';

/** Result of a build. A candidate that is neither built nor refused ran out of time, or fails only together with others. */
export interface Build {
  /** Path of the compiled module; null when no candidate compiles. */
  readonly module: string | null;
  readonly built: readonly Candidate[];
  /** Reasons by the names of refused candidates. */
  readonly refused: ReadonlyMap<string, string>;
}

export const isBuilt = ({ built }: Build, name: string): boolean => built.some((one) => one.name === name);

/**
 * Limits of a compile's work within its time-out. A candidate takes about 0.1 s. Halving the batch finds a candidate that takes
 * minutes, and the limit leaves time for the rest.
 */
const SECONDS_PER_CANDIDATE = 3;
const LEAST_SECONDS = 20;

/** A compiler that uses no CPU time for this long hangs. On a busy machine it still makes progress. */
const STALL_SECONDS = 4;

/** Share of the remaining time in which a compile of several candidates may work. */
const WORK_SHARE = 0.5;

/** Share of all time for the search for culprits; the rest is for a compile without the culprits. */
const SEARCH_SHARE = 0.7;

/** Share of the search's remaining time for the first half of a failed batch. */
const HALF_SHARE = 0.6;

/** The compiler's IR verifier takes up to a fifth of the time, and does not change legal modules. */
const NO_CHECKS = '--verify=false';

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
const NOT_RECORDED = '--iree-hal-memoization=false';
const FLOPS_OF_LONG_CALLS = 1e7;

const NO_LOCATION = 'the compiler failed without naming a location';

/** Whether a candidate is the untuned operation, the reference of the other candidates. */
const isDefault = ({ attribute, sumsIn }: Candidate) => attribute === null && sumsIn === undefined;

/**
 * Compiles `candidates` together as `name`.vmfb. Refused candidates are removed, and the rest is compiled again.
 * @param timeoutSeconds for all compiles together
 * @param isPart whether the batch is half of a failed batch. The default is then known to compile
 * @throws StoppedError when the toolchain's signal fires
 */
export async function buildCandidates(
  toolchain: Toolchain,
  workload: OperationWork,
  candidates: readonly Candidate[],
  name: string,
  timeoutSeconds = Infinity,
  isPart = false,
): Promise<Build> {
  const refused = new Map<string, string>();
  const nothing: Build = { module: null, built: [], refused };
  const begin = performance.now();
  const secondsTo = (end: number) => (end - performance.now()) / 1000;
  const until = begin + 1000 * timeoutSeconds;
  /** End of the search for culprits. */
  const found = isPart ? until : begin + SEARCH_SHARE * 1000 * timeoutSeconds;
  const compile = (some: readonly Candidate[], seconds: number, workSeconds = seconds) =>
    compileOnce(toolchain, workload, some, name, { seconds, workSeconds });
  let left = [...candidates];
  while (left.length > 0 && secondsTo(until) > 0) {
    const [defaults, own] = [left.filter(isDefault), left.filter((one) => !isDefault(one))];
    if (isPart && own.length === 0) break;
    const seconds = secondsTo(until);
    const workSeconds = (own.length > 1 ? WORK_SHARE : 1) * seconds;
    const { module, blamed, isLate } = await compile(left, seconds, workSeconds);
    if (module !== null) return { module, built: left, refused };
    if (blamed.size > 0) {
      for (const [candidate, reason] of blamed) refused.set(candidate, reason);
      left = left.filter((candidate) => !refused.has(candidate.name));
      continue;
    }
    // Candidates can be verified without the truth, so a failure without a culprit first drops the truth.
    const truth = own.find(({ sumsIn }) => sumsIn !== undefined);
    if (truth !== undefined) {
      refused.set(truth.name, NO_LOCATION);
      left = left.filter((candidate) => candidate !== truth);
      continue;
    }
    if (secondsTo(found) <= 0) return nothing;
    // A crash or a time-out names no culprit, so halve the batch until one candidate is left.
    if (left.length > 1 && !isPart && defaults.length > 0) {
      // If the default fails too, the cause lies elsewhere, such as a full disk.
      const stock = await compile(defaults.slice(0, 1), secondsTo(found));
      if (stock.module === null && !stock.isLate) {
        for (const candidate of left) refused.set(candidate.name, 'the compiler failed on the default too');
        return nothing;
      }
    }
    if (own.length < 2) {
      // A short time-out does not prove that the candidate is slow to compile.
      if (isLate && seconds < SECONDS_PER_CANDIDATE) return nothing;
      refused.set((own[0] ?? left[0]!).name, NO_LOCATION);
      left = own.length === 0 ? [] : defaults;
      continue;
    }
    const begun = performance.now();
    const half = own.length >> 1;
    const parts: Build[] = [];
    for (const [i, some] of [own.slice(0, half), own.slice(half)].entries()) {
      const share = (i === 0 ? HALF_SHARE : 1) * secondsTo(found);
      const batch = [...defaults, ...some];
      parts.push(await buildCandidates(toolchain, workload, batch, `${name}_${i}`, share, true));
    }
    for (const [candidate, reason] of parts.flatMap((part) => [...part.refused]))
      refused.set(candidate, reason);
    const built = new Set(parts.flatMap((part) => part.built.map((one) => one.name)));
    left = left.filter((candidate) => built.has(candidate.name));
    // Without a refused candidate, the whole batch would fail again.
    const isFound = refused.size > 0 && parts.every((part) => part.module !== null);
    const again =
      isFound && secondsTo(found) > -secondsTo(begun) ? await compile(left, secondsTo(found)) : null;
    if (again !== null && again.module !== null) return { module: again.module, built: left, refused };
    const [largest] = parts.toSorted((a, b) => b.built.length - a.built.length);
    return { ...largest!, refused };
  }
  return nothing;
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
