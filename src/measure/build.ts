// Compiles many candidates as one module and finds out which of them the compiler refuses.
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Workload } from '../workload/workload.ts';
import { candidateAtLine, candidateModule, type Candidate } from './candidate-module.ts';
import { dataTilingFlags, ON_FROM_PACKED, UP_TO_PACKED, withPackedTiles } from './packed.ts';
import { runTool, type ToolResult, type Toolchain } from './toolchain.ts';

export interface Build {
  /** The compiled module; null when no candidate was left. */
  readonly module: string | null;
  readonly built: readonly Candidate[];
  /** For each refused candidate, why. */
  readonly refused: ReadonlyMap<string, string>;
}

/** A candidate takes 0.1 s to compile; one that takes a hundred times as long is not worth having. */
const SECONDS_PER_CANDIDATE = 10;

/** Compiles `candidates` together as `name`.vmfb; refused ones are left out and the rest compiled again. */
export async function buildCandidates(
  toolchain: Toolchain,
  workload: Workload,
  candidates: readonly Candidate[],
  name: string,
): Promise<Build> {
  const refused = new Map<string, string>();
  let left = [...candidates];
  while (left.length > 0) {
    const { module, blamed } = await compileOnce(toolchain, workload, left, name);
    if (module !== null) return { module, built: left, refused };
    if (blamed.size === 0) {
      // The truth only judges the others and must cost none of them: whatever nothing names is tried without it first.
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
      // Each half compiled on its own, so together they fail for a reason that is nobody's: give up on this batch.
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

async function compileOnce(
  toolchain: Toolchain,
  workload: Workload,
  candidates: readonly Candidate[],
  name: string,
): Promise<{ module: string | null; blamed: Map<string, string> }> {
  let text = candidateModule(workload, candidates);
  const source = join(toolchain.workDirectory, `${name}.mlir`);
  const module = join(toolchain.workDirectory, `${name}.vmfb`);
  await writeFile(source, text);
  // A workload has the types that code is generated for: nothing is left to convert.
  const conversion = '--iree-input-demote-f64-to-f32=false';
  // Linked, all candidates would be one unit of code, made by one thread.
  const separate = '--iree-hal-link-executables=false';
  // Constant operands are filled when the module is loaded: evaluating them here would store them in every module.
  const evaluation = workload.constantRhs ? ['--iree-opt-const-eval=false'] : [];
  const dataTiling = await dataTilingFlags(toolchain, candidates);
  const flags = [...toolchain.flags, conversion, separate, ...evaluation, ...dataTiling];
  const compile = (...argv: string[]) =>
    runTool(
      toolchain.compiler,
      [...flags, ...argv],
      SECONDS_PER_CANDIDATE * (candidates.length + 1),
      toolchain.signal,
      // What the compiler leaves when it is killed goes with our own folder.
      { TMPDIR: toolchain.workDirectory },
    );
  let result: ToolResult;
  if (candidates.some(({ packed }) => packed !== undefined)) {
    const optimised = join(toolchain.workDirectory, `${name}.optimised.mlir`);
    result = await compile(UP_TO_PACKED, source, '-o', optimised);
    if (result.ok) {
      text = withPackedTiles(await readFile(optimised, 'utf8'), candidates);
      await writeFile(optimised, text);
      result = await compile(ON_FROM_PACKED, optimised, '-o', module);
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
