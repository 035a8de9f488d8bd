// One module for the candidates of several workloads. A separate module costs as much compile time as two candidates.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { rootsIn } from '../../src/input/dispatches.ts';
import { readFlow } from '../../src/input/flow.ts';
import { candidateModule, type Candidate } from '../../src/measure/candidate-module.ts';
import { NO_CONVERSION } from '../../src/measure/common-modules.ts';
import { runTool, type Toolchain } from '../../src/measure/toolchain.ts';
import { annotated, lateAnnotations, wholeProgramFlags } from '../../src/measure/build.ts';
import { distinctFillers, fillerDefinitions } from '../../src/workload/fillers.ts';
import { fillersOf, type OperationWork } from '../../src/workload/workload.ts';
import { STREAMED } from '../support/dispatch-programs.ts';

/** A workload with its candidates. Names are unique over all parts. */
export interface Part {
  readonly workload: OperationWork;
  readonly candidates: readonly Candidate[];
}

/**
 * Text of one module with all parts. Each part keeps its own operands.
 * @param around text of the module that the parts are added to
 */
export const moduleOf = (parts: readonly Part[], around: string): string =>
  parts.reduce(
    (text, { workload, candidates }, part) =>
      candidateModule(workload, candidates, text).replaceAll(
        /@([lr]hs)(_at\d+)?\b/g,
        (_, operand: string, size = '') => `@${operand}_of${part}${size}`,
      ),
    around,
  );

/** Text of a module that defines the functions that fill operands. */
export const withFillers = (parts: readonly Part[]): string => {
  const fillers = distinctFillers(parts.flatMap(({ workload }) => fillersOf(workload)));
  return `module {\n${fillerDefinitions(fillers)}}\n`;
};

/**
 * Compiles such a module with the flags of `buildCandidates`, linked into one executable.
 * @param edited edits the compiler's text after a phase; default: the candidates' annotations of late operations
 * @returns path of the compiled module
 */
export async function compileTogether(
  tools: Toolchain,
  parts: readonly Part[],
  text: string,
  name: string,
  edited: Edited | null = lateEdit(parts),
): Promise<string> {
  const fileOf = (ending: string) => join(tools.workDirectory, `${name}.${ending}`);
  const candidates = parts.flatMap((part) => part.candidates);
  const flags = [
    ...tools.flags,
    NO_CONVERSION,
    '--verify=false',
    '--iree-hal-link-executables=true',
    '--iree-opt-const-eval=false',
    ...(await wholeProgramFlags(tools, candidates, name)),
  ];
  const compile = async (source: string, made: string, ...argv: string[]) => {
    const seconds = 60 + 10 * candidates.length;
    const all = [...flags, ...argv, source, '-o', made];
    const { ok, stderr } = await runTool(tools.compiler, all, seconds, tools.signal);
    expect(ok, stderr).toBe(true);
    return made;
  };
  writeFileSync(fileOf('mlir'), text);
  if (edited === null) return compile(fileOf('mlir'), fileOf('vmfb'));
  const stopped = await compile(fileOf('mlir'), fileOf('late.mlir'), `--compile-to=${edited.phase}`);
  writeFileSync(stopped, edited.edit(readFileSync(stopped, 'utf8')));
  return compile(stopped, fileOf('vmfb'), `--compile-from=${edited.phase}`);
}

/** The roots of the dispatches of a program that streams its weights. The files of its compile lie in the work folder. */
export async function streamedRoots({
  compiler,
  flags,
  workDirectory,
  signal,
}: Toolchain): Promise<OperationWork[]> {
  const [source, flow] = ['program.mlir', 'flow.mlir'].map((name) => join(workDirectory, name));
  writeFileSync(source!, STREAMED);
  const argv = [...flags, '--compile-to=flow', source!, '-o', flow!];
  const { ok, stderr } = await runTool(compiler, argv, 60, signal);
  expect(ok, stderr).toBe(true);
  return [...rootsIn(readFlow(readFileSync(flow!))).values()].map(({ workload }) => workload);
}

interface Edited {
  readonly phase: string;
  readonly edit: (text: string) => string;
}

function lateEdit(parts: readonly Part[]): Edited | null {
  const candidates = parts.flatMap((part) => part.candidates);
  const late = lateAnnotations(candidates);
  if (late === undefined) return null;
  return {
    phase: late.phase,
    edit: (text) => annotated(text, candidates, (...line) => late.annotate(...line)),
  };
}
