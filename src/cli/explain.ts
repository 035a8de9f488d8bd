// `iree-tuned explain`
import { isBytecode } from 'mlir-parser-ts';
import { dynamicFunctions } from '../input/sizes-at-calls.ts';
import type { Injection } from '../inject/plan.ts';
import { proveLanded } from '../inject/landed.ts';
import { injectedCommand } from '../plan/injected-command.ts';
import { consultLock } from '../wrapper/locked.ts';
import { decisionsFor } from '../wrapper/several-targets.ts';
import { planCompile, planOf } from '../plan/route.ts';
import {
  EXPLAIN_VERSION,
  explainOperations,
  whyNothing,
  type ExplainedForms,
  type ExplainedOperation,
} from '../report/explain.ts';
import { largestCache } from '../backend/device.ts';
import { lossOf } from '../report/loss.ts';
import { lossText } from '../report/loss-text.ts';
import { NO_TIMES, timeLines, timeSharesOf, type ProgramTimes } from '../report/time-shares.ts';
import { measureLoss } from '../running/measure-loss.ts';
import type { Surroundings } from '../settings/surroundings.ts';
import { settableSizes, settableLines } from '../report/dynamic-sizes.ts';
import { excerpt, linesOf } from '../report/excerpt.ts';
import { printable } from '../report/text.ts';
import { counted, intervalText } from '../system/format.ts';
import { configurationKey } from '../backend/index.ts';
import { CliCommand } from './command.ts';
import { decideByRecords } from './by-records.ts';
import { openDatabase } from './database.ts';
import { inspectEach, type InspectedPart } from './input.ts';
import { interrupts } from './interrupt.ts';
import { because } from '../system/reason.ts';
import { page, sentences, warn } from './output.ts';

export const explain = new CliCommand(
  'explain',
  'show the decision of a build for each operation, its reason, and whether the executable has it',
)
  .argument('<input>', 'MLIR file')
  .withFlags('<input>')
  .json()
  .examples(
    ['iree-tuned explain model.mlir', 'for this CPU'],
    ['iree-tuned explain model.mlir --json -- --iree-llvmcpu-target-cpu=znver4', 'with the flags of a build'],
  )
  .action(explainInput);

async function explainInput(input: string, _: unknown, cli: CliCommand): Promise<void> {
  const parts = await inspectEach(input, cli.flags, cli.surroundings());
  const each = await Array.fromAsync(parts, (part) => explainTarget(input, part, parts.length > 1));
  const [first] = each;
  // Operations name their target if there are several.
  const operations = each.flatMap(({ json }) => json.operations);
  const json =
    each.length === 1 ? first!.json : { ...first!.json, forms: null, time: null, loss: null, operations };
  cli.print(json, () => each.map(({ text }) => text()).join('\n\n'));
}

/** The explanation for one target. @param isOneOfSeveral whether the flags have several targets */
async function explainTarget(input: string, asked: InspectedPart, isOneOfSeveral: boolean) {
  const { surroundings } = asked;
  const { settings } = surroundings;
  const locked =
    settings.lock === undefined && !settings.frozen ? null : await consultLock(asked, surroundings);
  if (locked?.lock.problem) warn(locked.lock.problem);
  const decided = locked?.whole
    ? { ...locked.program, decisions: locked.whole.decisions, forms: locked.forms, times: NO_TIMES }
    : await decideByRecords(asked, surroundings, {
        override: locked?.override,
        whyNot: ({ whyNotHere }) =>
          whyNotHere ?? because('no-record', 'no record: a build or iree-tuned tune makes one'),
      });
  const { command, inspected, forms } = decided;
  const times = await completed(decided, surroundings);
  const { backend } = asked.inspected.site.target.target;
  const decisions = isOneOfSeveral ? decisionsFor(backend, decided.decisions) : decided.decisions;
  const plan = locked?.whole
    ? planOf(locked.program, decisions, locked.whole.injection)
    : planCompile(decided, decisions, surroundings);
  const { injection } = plan;
  let landed: (boolean | null)[] | null = null;
  if (injection.route !== 'none' || command.rewriting !== undefined) {
    const injected = await injectedCommand(plan, surroundings);
    if (injected !== null) landed = await proveLanded(injected, surroundings);
  }
  const operations = explainOperations(inspected.input, input, decisions, landed);
  const time = timeSharesOf(decisions, times, largestCache(inspected.site.device));
  const loss = lossOf(times.dispatches, times.wholeSeconds, times.rates);
  const why = whyNothing(injection, forms);
  const sizes = settableSizes(dynamicFunctions(inspected.input.bytes, settings.sizes));
  const text = () => {
    const sourceAt = sourcesOf(input, inspected.input.bytes);
    const [sentence, ...dispatches] = time === null ? [] : timeLines(time);
    return [
      ...(isOneOfSeveral ? [page.paint('bold', `For ${backend}:\n`)] : []),
      ...operations.map((operation) => `${describe(operation, sourceAt)}\n`),
      ...(forms === null ? [] : [sentences(describeForms(forms))]),
      ...(sentence === undefined ? [] : [sentences(sentence)]),
      ...dispatches.map(indented),
      ...(loss === null ? [] : [`\n${lossText(loss, page)}\n`]),
      ...(sizes.length === 0 ? [] : [...settableLines(sizes).map(printable), '']),
      sentences(describeRoute(injection, operations)),
    ].join('\n');
  };
  return {
    json: { version: EXPLAIN_VERSION, route: injection.route, ...why, forms, time, loss, sizes, operations },
    text,
  };
}

/** The noted times, with the work and the rates that are not known yet. A program that was never timed is not timed here. */
async function completed(
  decided: Parameters<typeof measureLoss>[0] & { readonly times: ProgramTimes },
  surroundings: Surroundings,
): Promise<ProgramTimes> {
  if (decided.times.dispatches.length === 0 || surroundings.settings.readonly) return decided.times;
  using store = await openDatabase(surroundings);
  using signals = interrupts();
  const { times } = await measureLoss(decided, false, store, surroundings, signals.finishEarly);
  return times;
}

const COLOURS = { hit: 'green', tuned: 'green', default: 'yellow', skipped: 'dim' } as const;

const indented = (text: string) => `  ${printable(text)}`;

function describe(operation: ExplainedOperation, sourceAt: (location: string) => string | null): string {
  const { location, workload, outcome, code, reason, configuration, speedup, landed } = operation;
  const label = code === 'search-unfinished' ? 'unfinished' : outcome;
  const source = sourceAt(location);
  return [
    page.paint('bold', `${printable(location)}  ${operation.operation}`),
    ...(source === null ? [] : [source]),
    ...(workload === null ? [] : [indented(workload)]),
    indented(`${label}: ${reason}${intervalText(speedup)}`).replace(
      label,
      page.paint(COLOURS[outcome], label),
    ),
    ...(configuration === null || configuration.kind === 'default'
      ? []
      : [indented(configurationKey(configuration))]),
    ...(landed === true ? ['  seen in the executables'] : []),
  ].join('\n');
}

function describeForms({ used, reason, operations }: ExplainedForms): string {
  const counts = Map.groupBy(operations, ({ form }) => form);
  const forms = [...counts].map(([form, own]) => `${own.length} as ${form}`).join(', ');
  return `Other forms are ${used ? 'used' : 'not used'} (${forms}): ${reason}.`;
}

function describeRoute(injection: Injection, operations: readonly ExplainedOperation[]): string {
  const all = operations.filter(({ workload }) => workload !== null).length;
  const open = operations.filter(({ code }) => code === 'no-record').length;
  switch (injection.route) {
    case 'none':
      return injection.code === 'no-gain' && open > 0
        ? `Nothing is injected: ${open} of ${counted(all, 'operation')} ${open === 1 ? 'has' : 'have'} no record.`
        : `Nothing is injected: ${injection.reason}.`;
    case 'spec':
      return 'Injected by a tuning spec; the input is unchanged.';
    case 'preprocess':
      return `Injected by a preprocessing spec${injection.needs === null ? '' : `, with ${injection.needs} for its operations`}; the input is unchanged.`;
    case 'inline':
      return 'Injected by attributes in a copy of the input.';
    case 'substitute':
      return 'Injected by attributes in copies of the executables; the input is unchanged.';
  }
}

/** The underlined source of a location in the input's text; null for other files and for bytecode. */
function sourcesOf(input: string, bytes: Uint8Array): (location: string) => string | null {
  if (isBytecode(bytes)) return () => null;
  const lineAt = linesOf(bytes);
  return (location) => {
    const [, file, ...numbers] = /^(.*):(\d+):(\d+)$/s.exec(location) ?? [];
    const [line, column] = numbers.map(Number);
    const range = file === input ? lineAt(line!) : null;
    return range && excerpt(bytes, range, { line: line!, column: column! }, page);
  };
}
