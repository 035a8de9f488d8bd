// The real compiler and runtime, for tests that are proofs. A test file that gets here is no part of `npm run test:quick`.
import { describeCompiler, findCompiler, findRuntimeTool } from '../../src/compiler/index.ts';
import type { Toolchain } from '../../src/measure/toolchain.ts';
import { loadedWith } from '../../src/measure/common-modules.ts';
import { runFunction } from '../../src/measure/verify.ts';
import type { Workload } from '../../src/workload/workload.ts';
import { describeDevice } from '../../src/backend/index.ts';
import { HOST_FLAGS } from '../../src/site/probe.ts';
import { root } from './folders.ts';

export { root };

/** Path of the real iree-compile. `npm test` brings one, so there is always one; its absence fails the tests. */
export const compiler = findCompiler(process.env, {
  compiler: process.env['IREE_TUNED_COMPILER'],
  root,
});

export function runtimeTool(name: string): string {
  const path = findRuntimeTool(name, compiler, process.env, { root });
  if (path === undefined) throw new Error(`${name} is not installed`);
  return path;
}

/** Output of a function of a module of candidates, on small integers; null when it could not be run. */
export async function outputOf(
  tools: Toolchain,
  workload: Workload,
  module: string,
  name: string,
): Promise<Uint8Array | null> {
  const modules = await loadedWith(tools, workload, module);
  return runFunction(tools, modules!, name, 60);
}

/** A toolchain for measuring on one thread. */
export async function toolchain(workDirectory: string): Promise<Toolchain> {
  const { release } = await describeCompiler(compiler.executable, workDirectory);
  return {
    compiler: compiler.executable,
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
