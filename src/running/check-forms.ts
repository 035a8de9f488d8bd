// Checks forms before they are used: each convolution runs alone, as written and in its form.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { passesOf, withTrailingFlags } from '../compiler/command.ts';
import { convolutionKey, isConvolution, type Convolution } from '../form/convolution.ts';
import type { FormChoice } from '../form/choose.ts';
import { writtenText } from '../form/spec.ts';
import { pipelineFlags } from '../spec/pipeline.ts';
import { folderOf, measuringTools, type MeasuredProgram } from './callable.ts';
import { compareAlone } from './compare-alone.ts';
import { compiling } from './compiling.ts';

/**
 * @param program in its forms
 * @returns reasons by the keys of the convolutions whose form computes another result
 * @throws StoppedError when the signal fires
 */
export async function wrongForms(
  program: MeasuredProgram,
  choices: readonly FormChoice[],
): Promise<ReadonlyMap<string, string>> {
  const { command, inspected, signal } = program;
  const wrong = new Map<string, string>();
  const operations = choices.map(({ operation }) => operation).filter(isConvolution);
  const distinct = [...new Map(operations.map((one) => [convolutionKey(one), one]))];
  if (distinct.length === 0) return wrong;
  const folder = join(folderOf(program), 'forms-alone');
  mkdirSync(folder, { recursive: true });
  const source = join(folder, 'alone.mlir');
  writeFileSync(
    source,
    `module {\n${distinct.map(([, one], i) => functionText(one, `check${i}`)).join('')}}\n`,
  );
  const [stock, formed] = [join(folder, 'stock.vmfb'), join(folder, 'formed.vmfb')];
  const argv = command.expanded.with(command.arguments.input!.index, source);
  const compile = (module: string, flags: readonly string[]) =>
    compiling(program)([...flags, ...withTrailingFlags(argv, ['--iree-input-type=none', '-o', module])]);
  const problems = await Promise.all([compile(stock, []), compile(formed, pipelineFlags(passesOf(command)))]);
  // The program itself shows if its forms compile.
  if (problems.some((problem) => problem !== null)) return wrong;
  const tools = measuringTools(program);
  const { device } = inspected.site;
  const functions = distinct.map(([, { image, filter, result }], i) => ({
    ...{ name: `check${i}`, arguments: [image, filter, result], results: [result] },
  }));
  const compared = await compareAlone({ stock, tools, device, signal, folder }, formed, functions);
  for (const [i, { equal, reason }] of compared.entries())
    if (equal === false) wrong.set(distinct[i]![0], reason!);
  return wrong;
}

/** A function that computes a convolution as the program has it. */
function functionText(convolution: Convolution, name: string): string {
  const { list, operation, type } = writtenText(convolution);
  return `func.func @${name}(${list}) -> ${type} {
  %0 = ${operation}
  return %0 : ${type}
}
`;
}
