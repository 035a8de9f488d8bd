// Rules of a tuning spec for dispatches without contractions. A matcher compares all operations of a dispatch, from the last operation up to
// the loads, so that no other dispatch gets the tiles. The action follows the same operands to each operation with tiles.
import type { Release } from '../compiler/release.ts';
import { SYMBOL } from '../compiler/symbol.ts';
import { withoutLocations } from '../compiler/locations.ts';
import type { Action, Rule } from '../spec/rules.ts';
import { hasRoot } from '../workload/workload.ts';
import type { Entry } from './plan.ts';
import { makeSubstitutes, type CompileWith } from './substitute.ts';

/** An operation with its regions as text. */
interface Statement {
  /** Name of the result without `%`; null for none. */
  readonly result: string | null;
  /** Such as `linalg.generic`. */
  readonly name: string;
  /** Values in the order of the operands, without `%` and `#`. */
  readonly operands: readonly string[];
  /** Text without the tiles. */
  readonly text: string;
  /** Tiles as an attribute; null for none. */
  readonly levels: string | null;
}

const FUNCTION = new RegExp(
  String.raw`func\.func ${SYMBOL}\(\) attributes \{translation_info = (#iree_codegen\.translation_info<[^\n]*>)\} \{\n`,
);
const LEVELS = /#iree_cpu\.lowering_config<[^<>]*>/;
const STORE = /^(?:iree_codegen\.store_to_buffer|iree_tensor_ext\.dispatch\.tensor\.store)$/;
const LOAD = /^(?:iree_codegen\.load_from_buffer|iree_tensor_ext\.dispatch\.tensor\.load)$/;

/**
 * The rule that gives a dispatch the tiles of a configured executable.
 * @param configured the executable with its tiles, as the compiler prints it
 * @returns null if no matcher can compare the dispatch: several results, values from outside in regions, or unknown sizes
 */
export function dispatchRule(configured: string): Rule | null {
  const text = withoutLocations(configured);
  const found = FUNCTION.exec(text);
  if (found === null || FUNCTION.test(text.slice(found.index + found[0].length))) return null;
  const statements = statementsOf(text.slice(found.index + found[0].length));
  const stores = statements.filter(({ name }) => STORE.test(name));
  const made = new Map(
    statements.flatMap((one) => (one.result === null ? [] : [[one.result, one] as const])),
  );
  const root = made.get(stores[0]?.operands[0] ?? '');
  if (stores.length !== 1 || root === undefined || LOAD.test(root.name)) return null;
  const paths = pathsFrom(root, made);
  const dag = statements.filter((one) => paths.has(one));
  const isComparable = ({ name, text: own }: Statement) => LOAD.test(name) || !/#map|\?x|x\?/.test(own);
  // The action cannot reach an operation without a path from the root.
  const isWhole = statements.every((one) => one.levels === null || paths.has(one));
  if (!isWhole || !dag.every(isComparable) || dag.some(readsFromOutside)) return null;
  return { action: actionOf(dag, paths, found[1]!), matcher: (name) => matcherText(name, root, dag) };
}

/**
 * Compiles the executables of the entries to text, and turns the texts into rules.
 * @param compileWith compiles without an injection
 * @returns `left` has the entries without a rule
 */
export async function dispatchRules(
  compileWith: CompileWith,
  entries: readonly Entry[],
  release: Release,
  cacheDirectory: string,
): Promise<{ readonly rules: readonly Rule[]; readonly left: readonly Entry[] }> {
  const whole = entries.filter(({ workload }) => !hasRoot(workload));
  const made = await makeSubstitutes(compileWith, whole, release, cacheDirectory, false);
  const texts = new Map((made ?? []).map(({ name, text }) => [name, Buffer.from(text).toString('latin1')]));
  const rules = new Map<Entry, Rule>();
  for (const entry of whole) {
    const text = entry.executables.map((name) => texts.get(name)).find((one) => one !== undefined);
    const rule = text === undefined ? null : dispatchRule(text);
    if (rule !== null) rules.set(entry, rule);
  }
  return { rules: [...rules.values()], left: entries.filter((entry) => !rules.has(entry)) };
}

/** The operations of a function body. */
function statementsOf(body: string): Statement[] {
  const statements: Statement[] = [];
  let lines: string[] = [];
  let depth = 0;
  for (const line of body.split('\n')) {
    if (depth === 0 && line.trim() === '}') break;
    lines.push(line.trim());
    depth += bracesIn(line);
    if (depth > 0) continue;
    const own = statementOf(lines);
    if (own !== null) statements.push(own);
    lines = [];
  }
  return statements;
}

const bracesIn = (line: string): number => line.split('{').length - line.split('}').length;

function statementOf(lines: readonly string[]): Statement | null {
  const [head = ''] = lines;
  const found = /^(?:%(\w+)(?::\d+)? = )?([a-z_]\w*(?:\.\w+)*)/.exec(head);
  if (found === null) return null;
  const operands = head.slice(found[0].length).match(/%\w+/g) ?? [];
  return {
    result: found[1] ?? null,
    name: found[2]!,
    operands: operands.map((value) => value.slice(1)),
    text: lines
      .join('\n')
      .replace(/,? ?lowering_config = #iree_cpu\.lowering_config<[^<>]*>/, '')
      .replace(/ (?:attrs =\s+)?\{\}/, ''),
    levels: LEVELS.exec(head)?.[0] ?? null,
  };
}

/** For each operation that a root depends on, its consumer and the number of the operand; null for the root. */
type Paths = ReadonlyMap<Statement, { readonly from: Statement; readonly operand: number } | null>;

function pathsFrom(root: Statement, made: ReadonlyMap<string, Statement>): Paths {
  const paths = new Map<Statement, { from: Statement; operand: number } | null>([[root, null]]);
  for (const from of paths.keys()) {
    if (LOAD.test(from.name)) continue;
    for (const [operand, value] of from.operands.entries()) {
      const producer = made.get(value);
      if (producer !== undefined && !paths.has(producer)) paths.set(producer, { from, operand });
    }
  }
  return paths;
}

/** Whether a region uses a value from outside. Matchers cannot compare such values. */
function readsFromOutside({ text }: Statement): boolean {
  const [, ...region] = text.split('\n');
  const own = new Set<string>();
  for (const line of region)
    for (const [, value] of line.matchAll(/(?:^|[(,] ?)%(\w+)(?= = |: )/g)) own.add(value!);
  return region.some((line) => (line.match(/%\w+/g) ?? []).some((value) => !own.has(value.slice(1))));
}

/** A load is compared by its name alone, because the place of its operand differs between programs. */
function loadText({ result, text }: Statement): string {
  const type = /(tensor<[^<>]*>)$/.exec(text)?.[1] ?? '';
  const source = `!iree_tensor_ext.dispatch.tensor<readonly:${type}>`;
  const sizes = type.slice('tensor<'.length).split('x').slice(0, -1);
  const listed = (value: string | null) => sizes.map((size) => value ?? size).join(', ');
  return `%source_${result} = builtin.unrealized_conversion_cast to ${source}
        %${result} = iree_tensor_ext.dispatch.tensor.load %source_${result}, offsets = [${listed('0')}], sizes = [${listed(null)}], strides = [${listed('1')}] {match.operation_name_only} : ${source} -> ${type}`;
}

const matcherText = (name: string, root: Statement, dag: readonly Statement[]): string =>
  `  transform.named_sequence @${name}(%op: !transform.any_op {transform.readonly}) -> !transform.any_op {
    transform.match.operation_name %op ["${root.name}"] : !transform.any_op
    transform.iree.match.has_no_lowering_config %op : !transform.any_op
    %ins, %outs = transform.iree.match.cast_compatible_dag_from_root %op {
      ^bb0:
        ${dag.map((one) => (LOAD.test(one.name) ? loadText(one) : one.text)).join('\n        ')}
    } : (!transform.any_op) -> (!transform.any_value, !transform.any_value)
    transform.yield %op : !transform.any_op
  }`;

function actionOf(dag: readonly Statement[], paths: Paths, translation: string): Action {
  const handles = new Map<Statement, string>();
  const lines: string[] = [];
  const handleOf = (one: Statement): string => {
    const known = handles.get(one);
    if (known !== undefined) return known;
    const path = paths.get(one) ?? null;
    const handle = path === null ? '%op' : `%op_${one.result}`;
    if (path !== null) {
      const consumer = `${handleOf(path.from)}[${path.operand}]`;
      lines.push(
        `${handle} = transform.get_producer_of_operand ${consumer} : (!transform.any_op) -> !transform.any_op`,
      );
    }
    handles.set(one, handle);
    return handle;
  };
  for (const one of dag) {
    if (one.levels === null) continue;
    const handle = handleOf(one);
    const decides = one.levels.includes('distribution = ');
    const value = decides
      ? `#iree_codegen.compilation_info<lowering_config = ${one.levels}, translation_info = ${translation.replace('#iree_codegen.translation_info', '')}>`
      : one.levels;
    const attribute = decides ? 'compilation_info' : 'lowering_config';
    const tiles = `%tiles_${one.result}`;
    lines.push(
      `${tiles} = transform.param.constant ${value} -> !transform.any_param`,
      `transform.annotate ${handle} "${attribute}" = ${tiles} : !transform.any_op, !transform.any_param`,
    );
  }
  const body = lines.map((line) => `    ${line}\n`).join('');
  return {
    key: body,
    text: (name) =>
      `  transform.named_sequence @${name}(%op: !transform.any_op {transform.readonly}) {\n${body}    transform.yield\n  }`,
  };
}
