// Compares functions of two modules with each other, on random inputs of their own. A process for each function would take longer than
// the functions, so groups run first. The functions of a doubtful group run alone: a crash or a wrong result blames only its cause.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { sumOf } from '../measure/statistics.ts';
import { writeInputs } from '../program/inputs.ts';
import { comparisonWith, type Compared } from '../program/results.ts';
import type { StockContest } from '../program/verify.ts';
import { Semaphore } from '../system/semaphore.ts';
import { elementsOf, tensorText, type Tensor } from '../workload/tensor.ts';

/** Seconds of one call. Untuned code may be scalar. */
const CALL_SECONDS = 20;

/** Runs at once. They are not timed. */
const AT_ONCE = 2;

/** A group has no more functions once their operands have this many elements. */
const MOST_ELEMENTS = 2 ** 25;

/** A function that can run alone. */
export interface Alone {
  readonly name: string;
  readonly arguments: readonly Tensor[];
  readonly results: readonly Tensor[];
}

/** A function that calls others, each with arguments of its own, and returns all of their results. */
export interface Group extends Alone {
  readonly parts: readonly Alone[];
}

/** Groups of functions whose operands have room together, at least as many groups as run at once. */
export function groupsOf(functions: readonly Alone[]): Group[] {
  const elements = (one: Alone) =>
    sumOf([...one.arguments, ...one.results].map(({ shape }) => elementsOf(shape)));
  const most = Math.min(MOST_ELEMENTS, sumOf(functions.map(elements)) / AT_ONCE);
  const groups: Alone[][] = [];
  let left = 0;
  for (const one of functions) {
    if (left <= 0) {
      groups.push([]);
      left = most;
    }
    groups.at(-1)!.push(one);
    left -= elements(one);
  }
  return groups.map((parts, i) => ({
    ...{ name: `checks${i}`, parts },
    arguments: parts.flatMap((one) => one.arguments),
    results: parts.flatMap((one) => one.results),
  }));
}

/**
 * @param dialect of the functions: `func` has tensors, `util` has buffer views
 * @returns texts of the groups' functions
 */
export const groupsText = (groups: readonly Group[], dialect: 'func' | 'util'): string =>
  groups.map((one) => groupText(one, dialect)).join('');

function groupText({ name, parts, ...whole }: Group, dialect: 'func' | 'util'): string {
  const isView = dialect === 'util';
  const typesOf = (types: readonly Tensor[]) =>
    types.map((type) => (isView ? '!hal.buffer_view' : tensorText(type))).join(', ');
  const types = typesOf(whole.results);
  let given = 0;
  const calls = parts.map(({ name: called, ...own }, i) => {
    const values = own.arguments.map(() => `%arg${given++}`).join(', ');
    return `  %${i}:${own.results.length} = ${dialect}.call @${called}(${values}) : (${typesOf(own.arguments)}) -> (${typesOf(own.results)})`;
  });
  const parameters = whole.arguments.map((type, i) => `%arg${i}: ${typesOf([type])}`).join(', ');
  const returned = parts.flatMap(({ results }, i) => results.map((_, k) => `%${i}#${k}`)).join(', ');
  return `${dialect}.func public @${name}(${parameters}) -> (${types})${isView ? ' attributes {iree.abi.stub}' : ''} {
${calls.join('\n')}
  ${dialect}.return ${returned} : ${types}
}
`;
}

/**
 * @param stock the module to compare with, its tools and device, and a folder for results
 * @param tuned path of the other module
 * @param groups whose functions and parts are in both modules
 * @returns the comparisons of the parts by name
 * @throws StoppedError when the signal fires
 */
export async function compareAlone(
  stock: Omit<StockContest, 'function' | 'inputs'>,
  tuned: string,
  groups: readonly Group[],
): Promise<ReadonlyMap<string, Compared>> {
  const slots = new Semaphore(AT_ONCE);
  const compare = ({ name, ...types }: Alone, seed: number, isGroup: boolean) =>
    slots.run(async () => {
      const folder = join(stock.folder, name);
      mkdirSync(folder, { recursive: true });
      const called = { name, ...types, call: null, unsupported: null };
      const inputs = writeInputs(called, folder, seed);
      const contest = { ...stock, folder, function: called, inputs, isRandom: true, isGroup };
      return comparisonWith(contest)(tuned, CALL_SECONDS);
    });
  const compareGroup = async (group: Group, seed: number) => {
    const { parts } = group;
    const whole = parts.length > 1 ? await compare(group, seed, true) : null;
    return Promise.all(
      parts.map(async (one, i) => {
        const isDone = whole !== null && whole.equal === true;
        return [one.name, isDone ? whole : await compare(one, seed + i, false)] as const;
      }),
    );
  };
  return new Map((await Promise.all(groups.map(compareGroup))).flat());
}
