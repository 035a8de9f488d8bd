// The real compiler and runtime. A test file that imports this module is not part of `npm run test:quick`.
import { findCompiler, findRuntimeTool } from '../../src/compiler/find.ts';
import { root } from './folders.ts';

/** The real iree-compile, which `npm test` installs. @throws CompilerNotFoundError without a compiler, which fails the test */
export const compiler = findCompiler(process.env, {
  compiler: process.env['IREE_TUNED_COMPILER'],
  root,
});

export function runtimeTool(name: string): string {
  const path = findRuntimeTool(name, compiler, process.env, { root });
  if (path === undefined) throw new Error(`${name} is not installed`);
  return path;
}
