// Checks forms before they are used: each operation is compiled and runs alone, as written and in its form.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { backendNamed } from '../../backend/index.ts';
import { targetArchitecture } from '../../backend/target.ts';
import { NO_CHECKS, passesOf, withTrailingFlags } from '../../compiler/command.ts';
import { isReplaceable, kindOf, rewritableKey, type Replaceable } from '../../form/rewritable.ts';
import type { FormChoice } from '../../form/choose.ts';
import { packingIn } from '../../form/packing.ts';
import { listOf } from '../../form/text.ts';
import { NOT_RECORDED } from '../../measure/build.ts';
import { pipelineFlags } from '../../spec/pipeline.ts';
import { tensorText } from '../../workload/tensor.ts';
import { because } from '../../system/reason.ts';
import { folderOf, measuringTools, type MeasuredProgram } from '../callable.ts';
import { compareAlone, groupsOf, groupsText, type Alone, type Group } from '../compare-alone.ts';
import { compiling } from '../compiling.ts';
import type { Reasons } from './variant.ts';

/**
 * The operations whose form computes another result: see `CommandVariant.wrongAmong`. Forms with products in tiles are checked in a module of
 * their own, because theirs is code for the target.
 * @param isRefused whether halving also finds the operations whose form does not compile
 */
export async function wrongForms(
  program: MeasuredProgram,
  choices: readonly FormChoice[],
  isRefused = false,
): Promise<Reasons | null> {
  const kinds = Map.groupBy(choices, ({ form }) => (packingIn(form).packing === null ? 'plain' : 'tiles'));
  const all = await Promise.all([...kinds].map(([kind, own]) => checkIn(kind, program, own, isRefused)));
  return all.includes(null) ? null : new Map(all.flatMap((one) => [...one!]));
}

async function checkIn(
  kind: 'tiles' | 'plain',
  program: MeasuredProgram,
  choices: readonly FormChoice[],
  isRefused: boolean,
): Promise<Reasons | null> {
  const { command, inspected, signal, limits } = program;
  const replaced = choices.map(({ operation }) => operation).filter(isReplaceable);
  if (replaced.length === 0) return new Map();
  const folder = join(folderOf(program), 'forms-alone', kind);
  mkdirSync(folder, { recursive: true });
  const { key, target } = inspected.site.target;
  // Operations compute the same in code for every processor, and so do forms without tiles.
  const plain = backendNamed(key)?.flags(targetArchitecture(target)).plainCode ?? [];
  const passes = pipelineFlags(passesOf(command));
  const formedFlags = [...passes, ...(kind === 'plain' && !isRefused ? plain : [])];
  const alone = replaced.map(calledOf);
  const groups = groupsOf(alone);
  const compile = async (
    module: string,
    flags: readonly string[],
    called: readonly Called[],
    groups: readonly Group[] = [],
    isExact = false,
  ) => {
    const source = `${module}.mlir`;
    const texts = [...called.map((one) => functionText(one, isExact)), groupsText(groups, 'func')];
    writeFileSync(source, `module {\n${texts.join('')}}\n`);
    const argv = command.expanded.with(command.arguments.input!.index, source);
    const own = [...flags, NOT_RECORDED, NO_CHECKS, '--iree-input-type=none', '-o', module];
    return (await compiling(program)(withTrailingFlags(argv, own))) === null;
  };
  const [stock, formed] = [join(folder, 'stock.vmfb'), join(folder, 'formed.vmfb')];
  const [isStock, isFormed] = await Promise.all([
    compile(stock, plain, alone, groups, true),
    compile(formed, formedFlags, alone, groups),
  ]);
  if (!isRefused && !(isStock && isFormed)) return null;
  const end = performance.now() + 1000 * limits.compileSeconds;
  const failingWith = (path: string, flags: readonly string[]) =>
    failingAmong(alone, (some) =>
      performance.now() > end ? Promise.resolve(true) : compile(path, flags, some),
    );
  if (!isStock) {
    // An operation that does not compile alone as written cannot be checked. It keeps no other from its check.
    const open = new Set((await failingWith(stock, plain)).map(({ key }) => key));
    const rest = choices.filter(({ operation }) => !open.has(rewritableKey(operation)));
    return open.size === 0 ? new Map() : checkIn(kind, program, rest, isRefused);
  }
  if (!isFormed) {
    const failing = await failingWith(formed, formedFlags);
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

function calledOf(operation: Replaceable, i: number): Called {
  const kind = kindOf(operation);
  return {
    ...{ operation, key: kind.key(operation), name: `check${i}` },
    ...{ arguments: aloneOf(operation).operands, results: [kind.resultOf(operation)] },
  };
}

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

/**
 * Parameters and body of a function that computes an operation as the program has it. Scalars arrive as tensors, as in groups.
 * @param isExact whether it computes the operation more exactly, if that is known
 */
function aloneOf(operation: Replaceable, isExact = false) {
  const { before = '', alone, exact, operation: text, operands } = kindOf(operation).writtenOf(operation);
  if (isExact && exact !== undefined) return { operands, body: exact };
  if (alone !== undefined) return alone;
  const arriving = operands.map(({ isScalar = false, ...one }) =>
    isScalar ? { ...one, name: `${one.name}_tensor` } : one,
  );
  const extracted = operands.flatMap((one, i) =>
    one.isScalar ? [`${one.name} = tensor.extract ${arriving[i]!.name}[] : ${tensorText(one)}\n`] : [],
  );
  return { operands: arriving, body: `${extracted.join('')}${before}\n  %0 = ${text}` };
}

function functionText({ name, operation, results }: Called, isExact: boolean): string {
  const { operands, body } = aloneOf(operation, isExact);
  const type = tensorText(results[0]!);
  return `func.func @${name}(${listOf(operands)}) -> ${type} {
  ${body}
  return %0 : ${type}
}
`;
}
