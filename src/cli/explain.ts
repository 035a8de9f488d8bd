// `iree-tuned explain`: the decisions of a build, operation by operation, and whether they land.
import type { Command as Program } from 'commander';
import { isBytecode } from 'mlir-parser-ts';
import type { Injection } from '../inject/plan.ts';
import { proveLanded } from '../inject/proof.ts';
import { injectedCommand } from '../plan/injected-command.ts';
import type { Command } from '../compiler/command.ts';
import type { Decision, Override } from '../decision/decision.ts';
import type { Inspected } from '../plan/inspected.ts';
import { consultLock } from '../wrapper/locked.ts';
import { lookUp } from '../decision/look-up.ts';
import { planCompile } from '../plan/route.ts';
import { inKnownForms } from '../wrapper/program-forms.ts';
import { programMemory, inProgram } from '../running/program-memory.ts';
import { programOf } from '../running/program-notes.ts';
import { knownTimes } from '../running/program-times.ts';
import {
  EXPLAIN_VERSION,
  explainOperations,
  whyNothing,
  type ExplainedForms,
  type ExplainedOperation,
} from '../report/explain.ts';
import { largestCache } from '../backend/device.ts';
import { NO_TIMES, timeLines, timeSharesOf, type ProgramTimes } from '../report/time-shares.ts';
import { excerpt, linesOf } from '../report/excerpt.ts';
import { printable, wrapped } from '../report/text.ts';
import { configurationKey } from '../backend/index.ts';
import type { Surroundings } from '../settings/surroundings.ts';
import { atDevice, inspectInput, openIfThere, surroundingsOf } from './context.ts';
import { page, say, warn } from './output.ts';
import { NO_REASON, because } from '../system/reason.ts';

export async function explainInput(
  input: string,
  flags: readonly string[],
  options: { json?: boolean },
  program: Program,
): Promise<void> {
  const surroundings = surroundingsOf(program);
  const { cacheDirectory, env } = surroundings;
  const { command: asked, inspected: read } = await inspectInput(input, flags, surroundings);
  const { settings } = surroundings;
  const lock =
    settings.lock === undefined && !settings.frozen ? null : await consultLock(read, asked, surroundings);
  if (lock?.problem) warn(lock.problem);
  const { command, inspected, decisions, injection, forms, times } = lock?.whole
    ? { ...lock.whole, ...lock.program, forms: lock.forms, times: NO_TIMES }
    : await decideByDatabase(read, asked, lock?.override, surroundings);
  let landed: (boolean | null)[] | null = null;
  if (injection.route !== 'none' || command.rewriting !== undefined) {
    const injected = await injectedCommand(injection, command, inspected, decisions, surroundings);
    if (injected !== null) {
      const { forExecutables, route } = injected;
      const asking = { env, cacheDirectory };
      landed = await proveLanded(command.compiler.executable, forExecutables, decisions, route, asking);
    }
  }
  const operations = explainOperations(inspected.input, input, decisions, landed);
  const time = timeSharesOf(decisions, times, largestCache(inspected.site.device));
  if (options.json === true) {
    const why = whyNothing(injection, forms) ?? NO_REASON;
    const { route } = injection;
    const told = { version: EXPLAIN_VERSION, route, ...why, forms, time, operations };
    console.log(JSON.stringify(told, null, 2));
    return;
  }
  const sourceAt = sourcesOf(input, inspected.input.bytes);
  for (const operation of operations) console.log(`${describe(operation, sourceAt)}\n`);
  if (forms !== null) say(describeForms(forms));
  const [sentence, ...dispatches] = time === null ? [] : timeLines(time);
  if (sentence !== undefined) say(sentence);
  for (const line of dispatches) say(indented(line));
  say(describeRoute(injection));
}

/** Decisions by the database. */
async function decideByDatabase(
  read: Inspected,
  asked: Command,
  override: Override | undefined,
  surroundings: Surroundings,
): Promise<{
  readonly command: Command;
  readonly inspected: Inspected;
  readonly decisions: readonly Decision[];
  readonly injection: Injection;
  readonly forms: ExplainedForms | null;
  readonly times: ProgramTimes;
}> {
  const { settings } = surroundings;
  const store = await openIfThere(surroundings);
  const written = { command: asked, inspected: atDevice(read, store, surroundings) };
  const { program, forms } = await inKnownForms(written, store, surroundings);
  const { command, inspected } = program;
  const why =
    inspected.site.whyNotHere ??
    because('no-record', 'no record: a build tunes it, or iree-tuned tune ahead of one');
  const lookup = lookUp(store, inspected.input, inspected.site, settings, override);
  const memory = programMemory.recall(store, programOf(command, inspected));
  const decisions = inProgram(lookup.decide(new Map(), why), memory, lookup.marked, settings.inject);
  const times = knownTimes(program, store);
  store?.close();
  const injection = planCompile(decisions, inspected, command, surroundings);
  return { command, inspected, decisions, injection, forms, times };
}

const COLOURS = { hit: 'green', tuned: 'green', default: 'yellow', skipped: 'dim' } as const;

const indented = (text: string) => wrapped(`  ${printable(text)}`, page.columns, '    ');

function describe(operation: ExplainedOperation, sourceAt: (location: string) => string | null): string {
  const { location, workload, outcome, reason, configuration, speedup, landed } = operation;
  const source = sourceAt(location);
  const gain =
    speedup === null || speedup.ratio === 1
      ? reason
      : `${reason} (99% interval ${speedup.low.toFixed(2)}x to ${speedup.high.toFixed(2)}x)`;
  return [
    page.paint('bold', wrapped(`${printable(location)}  ${operation.operation}`, page.columns, '  ')),
    ...(source === null ? [] : [source]),
    ...(workload === null ? [] : [indented(workload)]),
    indented(`${outcome}: ${gain}`).replace(outcome, page.paint(COLOURS[outcome], outcome)),
    ...(configuration === null || configuration.kind === 'default'
      ? []
      : [indented(configurationKey(configuration))]),
    ...(landed === true ? ['  seen in the executables'] : []),
  ].join('\n');
}

function describeForms({ used, reason, operations }: ExplainedForms): string {
  const counts = Map.groupBy(operations, ({ form }) => form);
  const forms = [...counts].map(([form, own]) => `${own.length} as ${form}`).join(', ');
  return `${used ? 'Compiled' : 'Not compiled'} with operations in other forms (${forms}): ${reason}.`;
}

function describeRoute(injection: Injection): string {
  switch (injection.route) {
    case 'none':
      return `Nothing is injected: ${injection.reason}.`;
    case 'spec':
      return 'Injected by a tuning spec; the input is not touched.';
    case 'preprocess':
      return `Injected by a preprocessing spec${injection.needs === null ? '' : `, with ${injection.needs} where it says so`}; the input is not touched.`;
    case 'inline':
      return 'Injected by attributes in a copy of the input.';
    case 'substitute':
      return 'Injected by attributes in copies of the executables; the input is not touched.';
  }
}

/** The source at places in the input's text, each underlined; null for places elsewhere and for bytecode. */
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
