// Checks forms before they are used: each convolution is compiled and runs alone, as written and in its form.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { backendNamed } from '../backend/index.ts';
import { passesOf, withTrailingFlags } from '../compiler/command.ts';
import { convolutionKey, isConvolution, type Convolution } from '../form/convolution.ts';
import type { FormChoice } from '../form/choose.ts';
import { writtenText } from '../form/spec.ts';
import { pipelineFlags } from '../spec/pipeline.ts';
import { because, type Reason } from '../system/reason.ts';
import { elementsOf } from '../workload/tensor.ts';
import { folderOf, measuringTools, type MeasuredProgram } from './callable.ts';
import { compareAlone } from './compare-alone.ts';
import { compiling } from './compiling.ts';

/** Most elements of the operands of one call. */
const MOST_ELEMENTS = 2 ** 25;

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
  const alone = distinct.map((one, i): Called => ({ name: `check${i}`, parts: [one] }));
  // A process for each convolution would take longer than the convolutions.
  const together = groupsOf(distinct).map((parts, i): Called => ({ name: `checks${i}`, parts }));
  const compile = async (module: string, flags: readonly string[], called: readonly Called[]) => {
    const source = `${module}.mlir`;
    writeFileSync(source, `module {\n${called.map(functionText).join('')}}\n`);
    const argv = command.expanded.with(command.arguments.input!.index, source);
    const own = [...plain, '--iree-input-type=none', '-o', module];
    return (await compiling(program)([...flags, ...withTrailingFlags(argv, own)])) === null;
  };
  const [stock, formed] = [join(folder, 'stock.vmfb'), join(folder, 'formed.vmfb')];
  const all = [...alone, ...together];
  const [isStock, isFormed] = await Promise.all([compile(stock, [], all), compile(formed, passes, all)]);
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
  const compare = (called: readonly Called[]) =>
    // Convolutions are linear, so inputs of another scale show nothing new.
    compareAlone({ stock, tools, device, signal, folder, draws: 1 }, formed, called.map(signatureOf));
  const groups = await compare(together);
  const doubtful = together.flatMap(({ parts }, i) => (groups[i]!.equal === true ? [] : parts));
  const suspects = alone.filter(({ parts }) => doubtful.includes(parts[0]!));
  const compared = await compare(suspects);
  const wrong = suspects.filter((_, i) => compared[i]!.equal === false);
  return reasonsOf(wrong, (_, one) =>
    because('results-differ', `in a form alone, ${compared[suspects.indexOf(one)]!.reason!}`),
  );
}

/** A function of its own that computes convolutions. */
interface Called {
  readonly name: string;
  readonly parts: readonly Convolution[];
}

/** Convolutions whose operands have room together. */
function groupsOf(convolutions: readonly Convolution[]): Convolution[][] {
  const groups: Convolution[][] = [];
  let left = 0;
  for (const one of convolutions) {
    const elements = operandsOf(one).reduce((sum, { shape }) => sum + elementsOf(shape), 0);
    if (elements > left) {
      groups.push([]);
      left = MOST_ELEMENTS;
    }
    groups.at(-1)!.push(one);
    left -= elements;
  }
  return groups;
}

const operandsOf = ({ image, filter, result }: Convolution) => [image, filter, result];

const signatureOf = ({ name, parts }: Called) => ({
  ...{ name, arguments: parts.flatMap(operandsOf), results: parts.map(({ result }) => result) },
});

const reasonsOf = (
  wrong: readonly Called[],
  reasonOf: (key: string, one: Called) => Reason,
): ReadonlyMap<string, Reason> =>
  new Map(
    wrong.map((one) => {
      const key = convolutionKey(one.parts[0]!);
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

/** A function that computes convolutions as the program has them. */
function functionText({ name, parts }: Called): string {
  const texts = parts.map((one, i) => writtenText(one, String(i)));
  const types = texts.map(({ type }) => type).join(', ');
  return `func.func @${name}(${texts.map(({ list }) => list).join(', ')}) -> (${types}) {
${texts.map(({ operation }, i) => `  %${i} = ${operation}\n`).join('')}  return ${texts.map((_, i) => `%${i}`).join(', ')} : ${types}
}
`;
}
