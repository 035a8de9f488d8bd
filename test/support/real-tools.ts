// The real compiler and runtime, for tests that are proofs. A test file that gets here is no part of `npm run test:quick`.
import { describeCompiler, findCompiler, findRuntimeTool } from '../../src/compiler/index.ts';
import type { Toolchain } from '../../src/measure/toolchain.ts';
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
    signal: new AbortController().signal,
  };
}
