// Checks forms before they are used: each convolution is compiled and runs alone, as written and in its form.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { backendNamed } from '../backend/index.ts';
import { passesOf, withTrailingFlags } from '../compiler/command.ts';
import { convolutionKey, isConvolution, type Convolution } from '../form/convolution.ts';
import type { FormChoice } from '../form/choose.ts';
import { writtenText } from '../form/spec.ts';
import { NOT_RECORDED } from '../measure/build.ts';
import { pipelineFlags } from '../spec/pipeline.ts';
import { because, type Reason } from '../system/reason.ts';
import { folderOf, measuringTools, type MeasuredProgram } from './callable.ts';
import { compareAlone, groupsOf, groupsText, type Alone, type Group } from './compare-alone.ts';
import { compiling } from './compiling.ts';

/**
 * @param program in its forms
 * @param isRefused whether the compiler refuses the program in them
 * @returns reasons by the keys of the convolutions whose form does not compile or computes another result
 * @throws StoppedError when the signal fires
 */
export async function wrongForms(
  program: MeasuredProgram,
  choices: readonly FormChoice[],
  isRefused: boolean,
): Promise<ReadonlyMap<string, Reason>> {
  const { command, inspected, signal, limits } = program;
  const operations = choices.map(({ operation }) => operation).filter(isConvolution);
  const distinct = [...new Map(operations.map((one) => [convolutionKey(one), one])).values()];
  if (distinct.length === 0) return new Map();
  const folder = join(folderOf(program), 'forms-alone');
  mkdirSync(folder, { recursive: true });
  const passes = pipelineFlags(passesOf(command));
  // A form computes the same for every target. Plain code compiles in less than half of the time.
  const plain = isRefused ? [] : (backendNamed(inspected.site.target.key)?.plainCode ?? []);
  const alone = distinct.map(calledOf);
  const groups = groupsOf(alone);
  const compile = async (
    module: string,
    flags: readonly string[],
    called: readonly Called[],
    groups: readonly Group[] = [],
  ) => {
    const source = `${module}.mlir`;
    const texts = [...called.map(functionText), groupsText(groups, 'func')];
    writeFileSync(source, `module {\n${texts.join('')}}\n`);
    const argv = command.expanded.with(command.arguments.input!.index, source);
    const own = [...plain, NOT_RECORDED, '--iree-input-type=none', '-o', module];
    return (await compiling(program)([...flags, ...withTrailingFlags(argv, own)])) === null;
  };
  const [stock, formed] = [join(folder, 'stock.vmfb'), join(folder, 'formed.vmfb')];
  const [isStock, isFormed] = await Promise.all([
    compile(stock, [], alone, groups),
    compile(formed, passes, alone, groups),
  ]);
  if (!isRefused && !(isStock && isFormed)) return wrongForms(program, choices, true);
  if (!isStock) return new Map();
  if (!isFormed) {
    const end = performance.now() + 1000 * limits.compileSeconds;
    const failing = await failingAmong(alone, (some) =>
      performance.now() > end ? Promise.resolve(true) : compile(formed, passes, some),
    );
    return reasonsOf(failing, (key) => because('compile-failed', `the form of ${key} does not compile`));
  }
  const tools = measuringTools(program);
  const { device } = inspected.site;
  // Convolutions are linear, so inputs of another scale show nothing new.
  const contest = { stock, tools, device, signal, folder, draws: 1 };
  const compared = await compareAlone(contest, formed, groups);
  const wrong = alone.filter(({ name }) => compared.get(name)!.equal === false);
  return reasonsOf(wrong, (_, { name }) =>
    because('results-differ', `in a form alone, ${compared.get(name)!.reason!}`),
  );
}

/** A function of its own that computes a convolution. */
interface Called extends Alone {
  readonly convolution: Convolution;
}

function calledOf(convolution: Convolution, i: number): Called {
  const { image, filter, result } = convolution;
  return { name: `check${i}`, arguments: [image, filter, result], results: [result], convolution };
}

const reasonsOf = (
  wrong: readonly Called[],
  reasonOf: (key: string, one: Called) => Reason,
): ReadonlyMap<string, Reason> =>
  new Map(
    wrong.map((one) => {
      const key = convolutionKey(one.convolution);
      return [key, reasonOf(key, one)];
    }),
  );

/**
 * Finds by halving what does not compile.
 * @param all functions that do not compile together
 */
async function failingAmong(
  all: readonly Called[],
  compiles: (some: readonly Called[]) => Promise<boolean>,
): Promise<readonly Called[]> {
  if (all.length === 1) return all;
  const middle = Math.ceil(all.length / 2);
  const failing: Called[] = [];
  for (const half of [all.slice(0, middle), all.slice(middle)])
    if (!(await compiles(half))) failing.push(...(await failingAmong(half, compiles)));
  return failing;
}

/** A function that computes a convolution as the program has it. */
function functionText({ name, convolution }: Called): string {
  const { list, operation, type } = writtenText(convolution);
  return `func.func @${name}(${list}) -> ${type} {
  %0 = ${operation}
  return %0 : ${type}
}
`;
}
