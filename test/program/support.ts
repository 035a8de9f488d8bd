// Compiled programs for tests.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import { programSignature, type ProgramFunction } from '../../src/input/signature.ts';
import { HOST_FLAGS } from '../../src/site/probe.ts';
import { runtimeTool } from '../support/real-tools.ts';
import { rememberingCompiler } from '../support/remembering-compiler.ts';

/** Compiles a program; returns the module's path. */
export async function compile(text: string, folder: string, name: string): Promise<string> {
  const source = join(folder, `${name}.mlir`);
  const module = join(folder, `${name}.vmfb`);
  writeFileSync(source, text);
  await execa(rememberingCompiler, [...HOST_FLAGS, source, '-o', module]);
  return module;
}

/** Calls `main` of a module with more flags. @returns stdout; null if the runtime refuses */
export async function runMain(module: string, flags: readonly string[]): Promise<string | null> {
  const argv = [`--module=${module}`, '--function=main', '--device=local-sync', ...flags];
  const { stdout, failed } = await execa(runtimeTool('iree-run-module'), argv, { reject: false });
  return failed ? null : stdout;
}

/** Type and elements of each printed buffer: `4x10xf32=[1 2...][...]`, i1 in hexadecimal digits. */
export const buffersIn = (printed: string | null) =>
  [...printed!.matchAll(/^(\d[\dx]*x[a-z]\w*)=(.*)$/gim)].map(([, type, text]) => ({
    type: type!,
    values: (text!.match(/[^[\]\s]+/g) ?? []).map(Number),
  }));

/** Path of the file in a value of `--input=`. */
export const pathIn = (input: string): string => input.slice(input.indexOf('@') + 1);

/** The only public function, as the runtime sees it after the compiler's default conversions. */
export function onlyFunction(text: string): ProgramFunction {
  const convert = (elementType: string) => (elementType === 'f64' ? 'f32' : elementType);
  const [found, ...more] = programSignature(Buffer.from(text), convert);
  if (found === undefined || more.length > 0) throw new Error('not exactly one function');
  return found;
}
