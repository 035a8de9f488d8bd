// The real compiler and runtime, for tests that are proofs. A test file that gets here is no part of `npm run test:quick`.
import { findCompiler, findRuntimeTool } from '../../src/compiler/find.ts';
import { root } from './folders.ts';

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
