// Checks forms before they are used: each operation is compiled and runs alone, as written and in its form.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { backendNamed } from '../../backend/index.ts';
import { targetArchitecture } from '../../backend/target.ts';
import { passesOf, withTrailingFlags } from '../../compiler/command.ts';
import {
  isReplaceable,
  resultOf,
  rewritableKey,
  writtenOf,
  type Replaceable,
} from '../../form/rewritable.ts';
import type { FormChoice } from '../../form/choose.ts';
import { packingIn } from '../../form/packing.ts';
import { NOT_RECORDED } from '../../measure/build.ts';
import { pipelineFlags } from '../../spec/pipeline.ts';
import { because } from '../../system/reason.ts';
import { folderOf, measuringTools, type MeasuredProgram } from '../callable.ts';
import { compareAlone, groupsOf, groupsText, type Alone, type Group } from '../compare-alone.ts';
import { compiling } from '../compiling.ts';
import type { Reasons } from './variant.ts';

/**
 * The operations whose form computes another result.
 * @param program in its forms
 * @param choices for different operations
 * @returns reasons by the keys of operations; null if the forms do not compile together
 * @throws StoppedError when the signal fires
 */
export const wrongTogether = (program: MeasuredProgram, choices: readonly FormChoice[]) =>
  check(program, choices, false);

/** The same, and the operations whose form does not compile. Takes longer, because halving finds these. */
export const wrongAlone = async (
  program: MeasuredProgram,
  choices: readonly FormChoice[],
): Promise<Reasons> => (await check(program, choices, true)) ?? new Map();

async function check(
  program: MeasuredProgram,
  choices: readonly FormChoice[],
  isRefused: boolean,
): Promise<Reasons | null> {
  const { command, inspected, signal, limits } = program;
  const replaced = choices.map(({ operation }) => operation).filter(isReplaceable);
  if (replaced.length === 0) return new Map();
  const folder = join(folderOf(program), 'forms-alone');
  mkdirSync(folder, { recursive: true });
  const passes = pipelineFlags(passesOf(command));
  // A form computes the same for every target, unless its products are in tiles. Plain code compiles in less than half of the time.
  const isAny = choices.every(({ form }) => packingIn(form).packing === null);
  const { key, target } = inspected.site.target;
  const comparison = backendNamed(key)?.flags(targetArchitecture(target));
  const plain = isAny && !isRefused ? (comparison?.plainCode ?? []) : [];
  const alone = replaced.map(calledOf);
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
  if (!isRefused && !(isStock && isFormed)) return null;
  const end = performance.now() + 1000 * limits.compileSeconds;
  const failingWith = (path: string, flags: readonly string[]) =>
    failingAmong(alone, (some) =>
      performance.now() > end ? Promise.resolve(true) : compile(path, flags, some),
    );
  if (!isStock) {
    // An operation that does not compile alone as written cannot be checked. It keeps no other from its check.
    const open = new Set((await failingWith(stock, [])).map(({ key }) => key));
    const rest = choices.filter(({ operation }) => !open.has(rewritableKey(operation)));
    return open.size === 0 ? new Map() : check(program, rest, isRefused);
  }
  if (!isFormed) {
    const failing = await failingWith(formed, passes);
    return new Map(
      failing.map(({ key }) => [key, because('compile-failed', `the form of ${key} does not compile`)]),
    );
  }
  const tools = measuringTools(program);
  const { device } = inspected.site;
  // Convolutions are linear, so inputs of another scale show nothing new. Attentions are compared on the first draw only, too.
  const contest = { stock, tools, device, signal, folder, draws: 1 };
  const compared = await compareAlone(contest, formed, groups);
  const wrong = alone.filter(({ name }) => compared.get(name)!.equal === false);
  const whyWrong = (name: string) =>
    because('results-differ', `in a form alone, ${compared.get(name)!.reason!}`);
  return new Map(wrong.map(({ key, name }) => [key, whyWrong(name)]));
}

/** A function of its own that computes an operation. */
interface Called extends Alone {
  readonly operation: Replaceable;
  /** Key of the operation. */
  readonly key: string;
}

const calledOf = (operation: Replaceable, i: number): Called => ({
  ...{ operation, key: rewritableKey(operation), name: `check${i}` },
  ...{ arguments: writtenOf(operation).operands, results: [resultOf(operation)] },
});

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

/** A function that computes an operation as the program has it. */
function functionText({ name, operation: one }: Called): string {
  const { before = '', operation, type, ...written } = writtenOf(one);
  const { list, body } = written.alone ?? { list: written.list, body: `${before}\n  %0 = ${operation}` };
  return `func.func @${name}(${list}) -> ${type} {
  ${body}
  return %0 : ${type}
}
`;
}
