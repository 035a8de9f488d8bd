// Checks configurations before they are recorded: each of their dispatches runs alone, with and without its configuration, on values of
// all bits between guards.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findTool } from '../compiler/find.ts';
import { withTrailingFlags } from '../compiler/command.ts';
import { dispatchesAlone } from '../inject/dispatches-alone.ts';
import { readTexts, textsTo } from '../inject/executable-sources.ts';
import { blamedFor, configuredWith, type ConfiguredExecutable } from '../inject/split-program.ts';
import { eliding } from '../input/survey.ts';
import { NOT_RECORDED } from '../measure/build.ts';
import { runTool } from '../measure/toolchain.ts';
import type { Refusal, RoundBench } from '../program/tune-in-program.ts';
import type { StockContest } from '../program/verify.ts';
import type { MeasuredProgram } from './callable.ts';
import type { RoundBase } from './round-bench.ts';
import { compareAlone, groupsOf, groupsText } from './compare-alone.ts';
import { compiling } from './compiling.ts';

/** Elements of the largest constant in the text of a program. Dispatches with larger ones are not checked. */
const LARGE = 1024;

/** Seconds to print a program. */
const TEXT_SECONDS = 60;

/**
 * Runs dispatches of a program alone.
 * @param base the program. `isSampled`: stock is slow and runs only a sample of its workgroups
 * @param contest tools, device and folders
 * @returns the executables whose configuration is wrong or cannot be checked
 * @throws StoppedError when the signal fires
 */
export async function checkAlone(
  { split, folder, isSampled }: Pick<RoundBase, 'split' | 'folder'> & Pick<RoundBench, 'isSampled'>,
  configured: readonly ConfiguredExecutable[],
  { tools, device }: Pick<StockContest, 'tools' | 'device'>,
  program: MeasuredProgram,
): Promise<ReadonlyMap<string, Refusal>> {
  const { inspected, signal } = program;
  const wrong = new Map<string, Refusal>();
  const own = join(folder, 'alone');
  mkdirSync(own, { recursive: true });
  const open = (executable: string, reason: string) =>
    wrong.set(executable, { outcome: 'unchecked', reason });
  const text = await flowText(split.path, own, program);
  const names = new Set(configured.map(({ executable }) => executable));
  const alone = text === null ? null : dispatchesAlone(text, names);
  for (const name of names) {
    const one = alone?.dispatches.find(({ executable }) => executable === name);
    if (one === undefined) open(name, 'its dispatch cannot be run alone');
    else if (isSampled && !one.isFilled) open(name, 'its dispatch overwrites an operand');
  }
  if (alone === null || alone.dispatches.length === 0) return wrong;

  const source = join(own, 'alone.mlir');
  const [stock, tuned] = [join(own, 'stock.vmfb'), join(own, 'tuned.vmfb')];
  const groups = groupsOf(alone.dispatches);
  writeFileSync(source, `${alone.text}${groupsText(groups, 'util')}}\n`);
  const run = compiling(program);
  const compile = (path: string, flags: readonly string[]) =>
    run(withTrailingFlags(split.resumed(path), [NOT_RECORDED, ...flags]));
  const texts = join(own, 'texts');
  const configuredPath = join(own, 'configured.mlirbc');
  const allOpen = () => {
    for (const name of names) open(name, 'its dispatch does not compile alone');
    return wrong;
  };
  if ((await compile(source, textsTo(texts, configuredPath))) !== null) return allOpen();
  const sources = readTexts(texts);
  const { release } = inspected.site.compiler;
  const compileStock = () => {
    if (!isSampled) return compile(configuredPath, ['--compile-from=executable-configurations', '-o', stock]);
    const sampled = join(own, 'sampled');
    mkdirSync(sampled, { recursive: true });
    return compile(source, [...configuredWith(sources, [], release, sampled, true).flags, '-o', stock]);
  };
  // At the same time, because a compiler seldom uses more than one core.
  const untuned = compileStock();
  let tried = configured.filter(({ executable }) => !wrong.has(executable));
  for (;;) {
    const { flags, texts: edited } = configuredWith(sources, tried, release, own);
    for (const { executable } of tried)
      if (!edited.has(executable)) open(executable, 'its configuration does not fit its dispatch alone');
    const refusal = await compile(source, [...flags, '-o', tuned]);
    if (refusal === null) break;
    const blamed = blamedFor(refusal, edited);
    for (const { executable } of tried)
      if (blamed.size === 0 || blamed.has(executable)) open(executable, 'it does not compile alone');
    tried = tried.filter(({ executable }) => !wrong.has(executable));
    if (tried.length === 0) break;
  }
  if ((await untuned) !== null) return allOpen();
  if (tried.length === 0) return wrong;
  const contest = { stock, tools, device, signal, folder: own, isSampled };
  const compared = await compareAlone(contest, tuned, groups);
  for (const { executable, name } of alone.dispatches) {
    if (wrong.has(executable)) continue;
    const { equal, reason } = compared.get(name)!;
    if (equal === false) wrong.set(executable, { outcome: 'wrong-result', reason: `alone ${reason!}` });
    else if (equal === null) open(executable, reason ?? 'its results prove nothing');
  }
  return wrong;
}

/** Text of the program at the end of `flow`, without large constants; null without the compiler's printer. */
async function flowText(
  path: string,
  folder: string,
  { command, surroundings, signal }: MeasuredProgram,
): Promise<string | null> {
  const printer = findTool('iree-opt', command.compiler, surroundings.env, surroundings);
  if (printer === undefined) return null;
  const text = join(folder, 'flow.mlir');
  const { ok } = await runTool(printer, [path, ...eliding(LARGE, 0), '-o', text], TEXT_SECONDS, signal);
  return ok ? readFileSync(text, 'utf8') : null;
}
