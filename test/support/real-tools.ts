// The real tools that compile and measure candidates.
import { describeDevice } from '../../src/backend/llvm-cpu/cpu.ts';
import { describeCompiler } from '../../src/compiler/describe.ts';
import { loadedWith } from '../../src/measure/common-modules.ts';
import type { Toolchain } from '../../src/measure/toolchain.ts';
import { Semaphore } from '../../src/system/semaphore.ts';
import { outputsOf } from '../../src/measure/verify.ts';
import { HOST_FLAGS } from '../../src/site/probe.ts';
import {
  areGuardsWhole,
  guardedBytes,
  guardedName,
  resultIn,
  UNWRITTEN_BYTE,
} from '../../src/workload/guarded.ts';
import type { OperationWork } from '../../src/workload/workload.ts';
import { answers } from './answers.ts';
import { compiler, runtimeTool } from './installed-tools.ts';
import { rememberingCompiler } from './remembering-compiler.ts';

export { compiler, runtimeTool };
export { root } from './folders.ts';

/** Output of a candidate's function on small integers; null when the run fails. */
export async function outputOf(
  tools: Toolchain,
  workload: OperationWork,
  module: string,
  name: string,
): Promise<Uint8Array | null> {
  const modules = await loadedWith(tools, workload, module);
  const [output = null] = (await outputsOf(tools, modules!, [name], 60)) ?? [];
  return output;
}

/** The same between guards; null when the run fails or writes out of bounds. @param bytes of the result */
export async function guardedOutputOf(
  tools: Toolchain,
  workload: OperationWork,
  module: string,
  name: string,
  bytes: number,
): Promise<Uint8Array | null> {
  const modules = await loadedWith(tools, workload, module);
  const input = `${guardedBytes(bytes)}xi8=${UNWRITTEN_BYTE}`;
  const [memory] = (await outputsOf(tools, modules!, [guardedName(name)], 60, () => [input])) ?? [];
  return memory !== undefined && areGuardsWhole(memory) ? resultIn(memory) : null;
}

/** A toolchain for measuring on one thread, with the remembering compiler. */
export async function toolchain(workDirectory: string): Promise<Toolchain> {
  const { release } = await describeCompiler(compiler.executable, answers);
  return {
    compiler: rememberingCompiler,
    compiles: new Semaphore(4),
    release,
    flags: HOST_FLAGS,
    benchmarkModule: runtimeTool('iree-benchmark-module'),
    runModule: runtimeTool('iree-run-module'),
    device: describeDevice('local-sync'),
    workDirectory,
    commonDirectory: workDirectory,
    signal: new AbortController().signal,
  };
}
