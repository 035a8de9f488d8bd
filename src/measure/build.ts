// Compiles many candidates as one module and finds out which of them the compiler refuses.
import { candidatePhase, hasConstants, type OperationWork } from '../workload/workload.ts';
import { availableParallelism } from 'node:os';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Configuration } from '../backend/configuration.ts';
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

export interface Build {
  /** The compiled module; null when no candidate was left. */
  readonly module: string | null;
  readonly built: readonly Candidate[];
  /** For each refused candidate, why. */
  readonly refused: ReadonlyMap<string, string>;
}

/**
 * Limit of a compile: a candidate takes 0.1 s, and a busy machine several times as long. A candidate that takes minutes is found by halving
 * the batch, and must leave time for the others.
 */
const SECONDS_PER_CANDIDATE = 3;
const LEAST_SECONDS = 20;

/** The compiler's own checks take up to a fifth of the time, and change nothing for legal text. */
const NO_CHECKS = '--verify=false';

/**
 * Linked, all candidates are one unit of code, made by one thread; each by itself takes 0.15 s of work more. So many threads
 * make less of that than it costs.
 */
const FEW_THREADS = 2;

/** Whether one thread compiles a module, so that another module can be compiled beside it. */
export const isLinked = (): boolean => availableParallelism() <= FEW_THREADS;

/** Compiles `candidates` together as `name`.vmfb; refused ones are left out and the rest compiled again. */
export async function buildCandidates(
  toolchain: Toolchain,
  workload: OperationWork,
  candidates: readonly Candidate[],
  name: string,
): Promise<Build> {
  const refused = new Map<string, string>();
  let left = [...candidates];
  while (left.length > 0) {
    const { module, blamed } = await compileOnce(toolchain, workload, left, name);
    if (module !== null) return { module, built: left, refused };
    if (blamed.size === 0) {
      // The truth only judges candidates: a failure without a culprit is tried again without the truth first.
      const truth = left.find(({ sumsIn }) => sumsIn !== undefined);
      if (truth !== undefined) {
        refused.set(truth.name, 'the compiler failed without naming a location');
        left = left.filter((candidate) => candidate !== truth);
        continue;
      }
      // Nothing names the culprit (a crash, a time-out): halve until it stands alone.
      if (left.length === 1) {
        refused.set(left[0]!.name, blamed.get('') ?? 'the compiler failed without naming a location');
        break;
      }
      // When even the default fails by itself, it is no candidate's fault: a full disk, say.
      const stock = left.filter(({ attribute }) => attribute === null).slice(0, 1);
      if (stock.length > 0 && (await compileOnce(toolchain, workload, stock, name)).module === null) {
        for (const candidate of left) refused.set(candidate.name, 'the compiler failed on the default too');
        break;
      }
      const before = left.length;
      const half = before >> 1;
      for (const [i, part] of [left.slice(0, half), left.slice(half)].entries()) {
        const build = await buildCandidates(toolchain, workload, part, `${name}_${i}`);
        for (const [candidate, reason] of build.refused) refused.set(candidate, reason);
      }
      left = left.filter((candidate) => !refused.has(candidate.name));
      // Each half compiles alone, so no candidate is to blame: give up on this batch.
      if (left.length === before) {
        for (const candidate of left) refused.set(candidate.name, 'the compiler failed on the whole batch');
        break;
      }
      continue;
    }
    for (const [candidate, reason] of blamed) refused.set(candidate, reason);
    left = left.filter((candidate) => !refused.has(candidate.name));
  }
  return { module: null, built: [], refused };
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

async function compileOnce(
  toolchain: Toolchain,
  workload: OperationWork,
  candidates: readonly Candidate[],
  name: string,
): Promise<{ module: string | null; blamed: Map<string, string> }> {
  const phase = candidatePhase(workload);
  const [fillers, empty] = await Promise.all([
    compiledFillers(toolchain, workload, 'exact'),
    phase === null ? EMPTY_MODULE : moduleAt(phase, toolchain, EMPTY_MODULE),
  ]);
  if (fillers === null || empty === null) return { module: null, blamed: new Map() };
  let text = candidateModule(workload, candidates, declaringFillers(empty, workload));
  const source = join(toolchain.workDirectory, `${name}.mlir`);
  const module = join(toolchain.workDirectory, `${name}.vmfb`);
  await writeFile(source, text);
  const linking = `--iree-hal-link-executables=${isLinked()}`;
  // Constant operands are filled when the module is loaded: evaluating them here would store them in every module.
  const evaluation = hasConstants(workload) ? ['--iree-opt-const-eval=false'] : [];
  const wholeProgram = await wholeProgramFlags(toolchain, candidates, name);
  const from = phase === null ? [] : [`--compile-from=${phase}`];
  const flags = [
    ...toolchain.flags,
    NO_CONVERSION,
    NO_CHECKS,
    linking,
    ...evaluation,
    ...wholeProgram,
    ...from,
  ];
  const compile = (...argv: string[]) =>
    runCompiler(
      toolchain,
      [...flags, ...argv],
      Math.max(LEAST_SECONDS, SECONDS_PER_CANDIDATE * (candidates.length + 1)),
      // Files of a killed compiler go with our own folder.
      { TMPDIR: toolchain.workDirectory },
    );
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
  if (written) return { module, blamed: new Map() };
  const blamed = new Map<string, string>();
  for (const match of result.stderr.matchAll(/^[^\n]*?\.mlir:(\d+):\d+: error: ([^\n]*)/gm)) {
    const candidate = candidateAtLine(text, Number(match[1]));
    if (candidate !== null && !blamed.has(candidate)) blamed.set(candidate, match[2]!);
  }
  return { module: null, blamed };
}
