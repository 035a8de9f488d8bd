// Checks forms before they are used: each convolution is compiled and runs alone, as written and in its form.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { passesOf, withTrailingFlags } from '../compiler/command.ts';
import { convolutionKey, isConvolution, type Convolution } from '../form/convolution.ts';
import type { FormChoice } from '../form/choose.ts';
import { writtenText } from '../form/spec.ts';
import { pipelineFlags } from '../spec/pipeline.ts';
import { because, type Reason } from '../system/reason.ts';
import { folderOf, measuringTools, type MeasuredProgram } from './callable.ts';
import { compareAlone } from './compare-alone.ts';
import { compiling } from './compiling.ts';

/**
 * @param program in its forms
 * @returns reasons by the keys of the convolutions whose form does not compile or computes another result
 * @throws StoppedError when the signal fires
 */
export async function wrongForms(
  program: MeasuredProgram,
  choices: readonly FormChoice[],
): Promise<ReadonlyMap<string, Reason>> {
  const { command, inspected, signal, limits } = program;
  const operations = choices.map(({ operation }) => operation).filter(isConvolution);
  const distinct = [...new Map(operations.map((one) => [convolutionKey(one), one]))].map(
    ([key, operation], i): Alone => ({ key, operation, name: `check${i}` }),
  );
  if (distinct.length === 0) return new Map();
  const folder = join(folderOf(program), 'forms-alone');
  mkdirSync(folder, { recursive: true });
  const passes = pipelineFlags(passesOf(command));
  const compile = async (module: string, flags: readonly string[], some: readonly Alone[]) => {
    const source = `${module}.mlir`;
    writeFileSync(source, `module {\n${some.map(functionText).join('')}}\n`);
    const argv = command.expanded.with(command.arguments.input!.index, source);
    const own = ['--iree-input-type=none', '-o', module];
    return (await compiling(program)([...flags, ...withTrailingFlags(argv, own)])) === null;
  };
  const [stock, formed] = [join(folder, 'stock.vmfb'), join(folder, 'formed.vmfb')];
  const [isStock, isFormed] = await Promise.all([
    compile(stock, [], distinct),
    compile(formed, passes, distinct),
  ]);
  if (!isStock) return new Map();
  if (!isFormed) {
    const end = performance.now() + 1000 * limits.compileSeconds;
    const failing = await failingAmong(distinct, (some) =>
      performance.now() > end ? Promise.resolve(true) : compile(formed, passes, some),
    );
    return new Map(
      failing.map(({ key }) => [key, because('compile-failed', `the form of ${key} does not compile`)]),
    );
  }
  const tools = measuringTools(program);
  const { device } = inspected.site;
  const functions = distinct.map(({ name, operation: { image, filter, result } }) => ({
    ...{ name, arguments: [image, filter, result], results: [result] },
  }));
  const compared = await compareAlone({ stock, tools, device, signal, folder }, formed, functions);
  return new Map(
    compared.flatMap(({ equal, reason }, i) =>
      equal === false
        ? [[distinct[i]!.key, because('results-differ', `in a form alone, ${reason!}`)] as const]
        : [],
    ),
  );
}

/** A convolution in a function of its own. */
interface Alone {
  readonly key: string;
  readonly operation: Convolution;
  /** Name of the function. */
  readonly name: string;
}

/**
 * Finds by halving what does not compile.
 * @param all functions that do not compile together
 */
async function failingAmong(
  all: readonly Alone[],
  compiles: (some: readonly Alone[]) => Promise<boolean>,
): Promise<readonly Alone[]> {
  if (all.length === 1) return all;
  const middle = Math.ceil(all.length / 2);
  const failing: Alone[] = [];
  for (const half of [all.slice(0, middle), all.slice(middle)])
    if (!(await compiles(half))) failing.push(...(await failingAmong(half, compiles)));
  return failing;
}

/** A function that computes a convolution as the program has it. */
function functionText({ operation: convolution, name }: Alone): string {
  const { list, operation, type } = writtenText(convolution);
  return `func.func @${name}(${list}) -> ${type} {
  %0 = ${operation}
  return %0 : ${type}
}
`;
}
