// Compiles and runs programs as written and in forms.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import type { FormChoice } from '../../src/form/choose.ts';
import { formsSpec, REWRITE } from '../../src/form/spec.ts';
import { pipelineFlags, rewritingPasses } from '../../src/spec/pipeline.ts';
import { elementsOf } from '../../src/workload/tensor.ts';
import { temporaryDirectory } from '../support/folders.ts';
import { runtimeTool } from '../support/installed-tools.ts';
import { isFull } from '../support/needs.ts';
import { rememberingCompiler } from '../support/remembering-compiler.ts';

/** The output of a program. */
export const outputOf = async (program: string, argv: readonly string[]): Promise<string> =>
  (await execa(program, argv, { stdin: 'ignore' })).stdout;

const targeting = (backend: string) => [
  '--iree-hal-target-device=local',
  `--iree-hal-local-target-device-backends=${backend}`,
];

/** For the CPU. */
export const HOST = targeting('llvm-cpu');

/** For a backend that the compiler takes half the time for, and that has microkernels for tiles of any size. */
export const VMVX = targeting('vmvx');

/** A form is the same for both. */
export const TARGET = isFull ? HOST : VMVX;

/** The file of a program, and the flags that bring it into forms. */
function filesOf(text: string, choices: readonly FormChoice[]) {
  const folder = temporaryDirectory();
  const [input, spec] = [join(folder, 'input.mlir'), join(folder, 'forms.mlir')];
  writeFileSync(input, text);
  writeFileSync(spec, formsSpec(choices));
  return { folder, input, passes: pipelineFlags([rewritingPasses(spec, REWRITE)]) };
}

/** The text of a program in its forms, before the compiler changes it. */
export function preprocessed(text: string, choices: readonly FormChoice[]): Promise<string> {
  const { input, passes } = filesOf(text, choices);
  return outputOf(rememberingCompiler, [...TARGET, ...passes, '--compile-to=preprocessing', input]);
}

/**
 * The results of `@main` as written and in forms.
 * @param shapes of the f32 arguments
 * @param valueAt gives the element of an argument
 */
export async function resultsOf(
  text: string,
  choices: readonly FormChoice[],
  shapes: readonly (readonly number[])[],
  valueAt: (element: number, argument: number) => number,
  target: readonly string[] = TARGET,
): Promise<{ readonly written: Float32Array; readonly formed: Float32Array }> {
  const { folder, input, passes } = filesOf(text, choices);
  const inputs = shapes.map((shape, argument) => {
    const path = join(folder, `${argument}.bin`);
    const length = elementsOf(shape);
    writeFileSync(
      path,
      Float32Array.from({ length }, (_, element) => valueAt(element, argument)),
    );
    return `--input=${shape.join('x')}xf32=@${path}`;
  });
  const run = async (name: string, flags: readonly string[]) => {
    const [module, result] = [join(folder, `${name}.vmfb`), join(folder, `${name}.bin`)];
    await outputOf(rememberingCompiler, [...target, ...flags, input, '-o', module]);
    await outputOf(runtimeTool('iree-run-module'), [
      ...[`--module=${module}`, '--function=main', '--device=local-sync', `--output=@${result}`],
      ...inputs,
    ]);
    return new Float32Array(new Uint8Array(readFileSync(result)).buffer);
  };
  return { written: await run('written', []), formed: await run('formed', passes) };
}
