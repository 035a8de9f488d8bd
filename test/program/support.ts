// Compiled programs for tests.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import { programSignature, type ProgramFunction } from '../../src/input/signature.ts';
import { HOST_FLAGS } from '../../src/site/probe.ts';
import { rememberingCompiler } from '../support/remembering-compiler.ts';

/** Compiles a program; returns the module's path. */
export async function compile(text: string, folder: string, name: string): Promise<string> {
  const source = join(folder, `${name}.mlir`);
  const module = join(folder, `${name}.vmfb`);
  writeFileSync(source, text);
  await execa(rememberingCompiler, [...HOST_FLAGS, source, '-o', module]);
  return module;
}

/** The only public function, as the runtime sees it after the compiler's default conversions. */
export function onlyFunction(text: string): ProgramFunction {
  const convert = (elementType: string) => (elementType === 'f64' ? 'f32' : elementType);
  const [found, ...more] = programSignature(Buffer.from(text), convert);
  if (found === undefined || more.length > 0) throw new Error('not exactly one function');
  return found;
}
