// Compiles many candidates as one module and finds out which of them the compiler refuses.
import { meterOf } from '../backend/index.ts';
import { candidatePhase, hasConstants, workloadFlops, type OperationWork } from '../workload/workload.ts';
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

/** What became of candidates: those that are neither built nor refused were left out for want of time, or go with no others. */
export interface Build {
  /** The compiled module; null when no candidate was left. */
  readonly module: string | null;
  readonly built: readonly Candidate[];
  /** For each refused candidate, why. */
  readonly refused: ReadonlyMap<string, string>;
}

export const isBuilt = ({ built }: Build, name: string): boolean => built.some((one) => one.name === name);

/**
 * So long a compile may work, if there is the time: a candidate takes 0.1 s. One that takes minutes is found by halving the batch, and
 * must leave time for the others.
 */
const SECONDS_PER_CANDIDATE = 3;
const LEAST_SECONDS = 20;

/** A compiler that does nothing for so long hangs; on a busy machine it works all the same, if slowly. */
const STALL_SECONDS = 4;

/**
 * Of the time that there is, what a compile of several candidates may work; and by when culprits have to be found, so that there is
 * time for the others.
 */
const WORK_SHARE = 0.5;
const SEARCH_SHARE = 0.7;

/** Of the time that is left, for the first half of those that failed together. */
const HALF_SHARE = 0.6;

/** The compiler's own checks take up to a fifth of the time, and change nothing for legal text. */
const NO_CHECKS = '--verify=false';

/**
 * Linked, all candidates are one unit of code, made by one thread; each by itself takes 0.15 s of work more. So many threads
 * make less of that than it costs.
 */
const FEW_THREADS = 2;

/** Whether one thread compiles a module, so that another module can be compiled beside it. */
export const isLinked = (): boolean => availableParallelism() <= FEW_THREADS;

const NO_LOCATION = 'the compiler failed without naming a location';

/** The operation as the compiler has it: what candidates are compared with. */
const isDefault = ({ attribute, sumsIn }: Candidate) => attribute === null && sumsIn === undefined;

/**
 * Compiles `candidates` together as `name`.vmfb; refused ones are left out and the rest compiled again.
 * @param timeoutSeconds for all of that
 */
export async function buildCandidates(
  toolchain: Toolchain,
  workload: OperationWork,
  candidates: readonly Candidate[],
  name: string,
  timeoutSeconds = Infinity,
): Promise<Build> {
  return buildUntil(
    { toolchain, workload, isPart: false },
    candidates,
    name,
    performance.now() + 1000 * timeoutSeconds,
  );
}

interface Building {
  readonly toolchain: Toolchain;
  readonly workload: OperationWork;
  /** Whether there are others that it was halved from: the default compiles. */
  readonly isPart: boolean;
}

/** @param until milliseconds of `performance.now()` */
async function buildUntil(
  building: Building,
  candidates: readonly Candidate[],
  name: string,
  until: number,
): Promise<Build> {
  const { toolchain, workload, isPart } = building;
  const refused = new Map<string, string>();
  const nothing: Build = { module: null, built: [], refused };
  const secondsTo = (end: number) => (end - performance.now()) / 1000;
  const found = isPart ? until : performance.now() + SEARCH_SHARE * (until - performance.now());
  const compile = (some: readonly Candidate[], seconds: number, workSeconds = seconds) =>
    compileOnce(toolchain, workload, some, name, { seconds, workSeconds });
  let left = [...candidates];
  while (left.length > 0 && secondsTo(until) > 0) {
    const [defaults, own] = [left.filter(isDefault), left.filter((one) => !isDefault(one))];
    if (isPart && own.length === 0) break;
    const seconds = secondsTo(until);
    const { module, blamed, isLate } = await compile(
      left,
      seconds,
      (own.length > 1 ? WORK_SHARE : 1) * seconds,
    );
    if (module !== null) return { module, built: left, refused };
    if (blamed.size > 0) {
      for (const [candidate, reason] of blamed) refused.set(candidate, reason);
      left = left.filter((candidate) => !refused.has(candidate.name));
      continue;
    }
    // The truth only judges candidates: a failure without a culprit is tried again without the truth first.
    const truth = own.find(({ sumsIn }) => sumsIn !== undefined);
    if (truth !== undefined) {
      refused.set(truth.name, NO_LOCATION);
      left = left.filter((candidate) => candidate !== truth);
      continue;
    }
    if (secondsTo(found) <= 0) return nothing;
    // Nothing names the culprit (a crash, a time-out): halve until it stands alone.
    if (left.length > 1 && !isPart && defaults.length > 0) {
      // When even the default fails by itself, it is no candidate's fault: a full disk, say.
      const stock = await compile(defaults.slice(0, 1), secondsTo(found));
      if (stock.module === null && !stock.isLate) {
        for (const candidate of left) refused.set(candidate.name, 'the compiler failed on the default too');
        return nothing;
      }
    }
    if (own.length < 2) {
      // That there was so little time is not a candidate's fault.
      if (isLate && seconds < SECONDS_PER_CANDIDATE) return nothing;
      refused.set((own[0] ?? left[0]!).name, NO_LOCATION);
      left = own.length === 0 ? [] : defaults;
      continue;
    }
    const begun = performance.now();
    const half = own.length >> 1;
    const parts: Build[] = [];
    for (const [i, some] of [own.slice(0, half), own.slice(half)].entries()) {
      const end = performance.now() + (i === 0 ? HALF_SHARE : 1) * 1000 * secondsTo(found);
      parts.push(
        await buildUntil({ ...building, isPart: true }, [...defaults, ...some], `${name}_${i}`, end),
      );
    }
    for (const [candidate, reason] of parts.flatMap((part) => [...part.refused]))
      refused.set(candidate, reason);
    const built = new Set(parts.flatMap((part) => part.built.map((one) => one.name)));
    left = left.filter((candidate) => built.has(candidate.name));
    // Where no candidate is to blame, all of them together would fail again.
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

/** Text of a module with one operation of this configuration after a phase of the compiler; null when it does not get there. */
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

/** @param seconds that there are for it, and how long the compiler may work */
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
  let text = candidateModule(workload, candidates, declaringFillers(empty, workload));
  const source = join(toolchain.workDirectory, `${name}.mlir`);
  const module = join(toolchain.workDirectory, `${name}.vmfb`);
  await writeFile(source, text);
  const linking = `--iree-hal-link-executables=${isLinked()}`;
  const repeats = meterOf(toolchain.device).repeats(toolchain.device, workloadFlops(workload));
  // Constant operands are filled when the module is loaded: evaluating them here would store them in every module.
  const evaluation = hasConstants(workload) ? ['--iree-opt-const-eval=false'] : [];
  const wholeProgram = await wholeProgramFlags(toolchain, candidates, name);
  const from = phase === null ? [] : [`--compile-from=${phase}`];
  const flags = [
    ...toolchain.flags,
    NO_CONVERSION,
    NO_CHECKS,
    linking,
    ...(repeats > 1 ? [`--iree-hal-benchmark-dispatch-repeat-count=${repeats}`] : []),
    ...evaluation,
    ...wholeProgram,
    ...from,
  ];
  const longest = Math.max(LEAST_SECONDS, SECONDS_PER_CANDIDATE * (candidates.length + 1));
  const compile = (...argv: string[]) =>
    runCompiler(toolchain, [...flags, ...argv], seconds, {
      // Files of a killed compiler go with our own folder.
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
  // The compiler can exit with 0 after writing nothing but a crash reproducer.
  const written = result.ok && (await stat(module).catch(() => null)) !== null;
  if (written) return { module, blamed: new Map(), isLate: false };
  const blamed = new Map<string, string>();
  for (const match of result.stderr.matchAll(/^[^\n]*?\.mlir:(\d+):\d+: error: ([^\n]*)/gm)) {
    const candidate = candidateAtLine(text, Number(match[1]));
    if (candidate !== null && !blamed.has(candidate)) blamed.set(candidate, match[2]!);
  }
  return { module: null, blamed, isLate: result.timedOut };
}
