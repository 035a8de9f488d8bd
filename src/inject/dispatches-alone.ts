// A module with one function for each of some dispatches of a program, so that each dispatch runs alone, between guards: see `guarded.ts`. Pure.
import { nameOfSymbol, SYMBOL, VALUE } from '../compiler/symbol.ts';
import { EXECUTABLE } from '../input/flow.ts';
import { elementBits } from '../workload/element-type.ts';
import { GUARD_BYTES, guardValue, viewLines } from '../workload/fillers.ts';
import { UNWRITTEN_BYTE } from '../workload/guarded.ts';
import { elementsOf, tensorFromText, tensorText, type Tensor } from '../workload/tensor.ts';

/** A dispatch, and the function that runs it alone. */
export interface DispatchAlone {
  readonly executable: string;
  /** Name of the function. */
  readonly name: string;
  readonly arguments: readonly Tensor[];
  /** Results of the dispatch, each followed by the bytes before and behind it. */
  readonly results: readonly Tensor[];
  /** Whether all results lie in memory that was filled before. */
  readonly isFilled: boolean;
}

export interface DispatchesAlone {
  /** The module without its last line, so that more functions can follow. */
  readonly text: string;
  /** One for each executable that can run alone. */
  readonly dispatches: readonly DispatchAlone[];
}

const DISPATCH = new RegExp(
  String.raw`^ +(?:%[\w:, %]+) = (flow\.dispatch (${SYMBOL})::${SYMBOL}(?:\[([^\]]*)\])?)\(([^)]*)\) : \((.*)\) -> (.*)$`,
);
const BEGIN = new RegExp(EXECUTABLE);
/** A copy of a function in each caller would double the time to compile the module. */
const NOT_INLINED = 'inlining_policy = #util.inline.never';

/**
 * @param flow text of the program at the end of `flow`; large constants may be elided, because the dispatches get random operands
 * @param executables names of the executables
 */
export function dispatchesAlone(flow: string, executables: ReadonlySet<string>): DispatchesAlone {
  const lines = flow.split('\n');
  const kept: string[] = [];
  const constants = new Map<string, string>();
  const dispatches: DispatchAlone[] = [];
  const functions: string[] = [];
  /** Executables with constants whose values the text lacks. */
  const elided = new Set<string>();
  let executable: string | null = null;
  let own: string[] = [];
  for (const line of lines) {
    const [, begun] = BEGIN.exec(line) ?? [];
    if (begun !== undefined) [executable, own] = [nameOfSymbol(begun), []];
    if (executable !== null) {
      own.push(line);
      if (line.includes('dense_resource<')) elided.add(executable);
      if (line !== '  }') continue;
      if (executables.has(executable) && !elided.has(executable)) kept.push(...own);
      executable = null;
    } else if (/^(?:#\w|module\b)/.test(line) || /^ {2}util\.global private @__device/.test(line))
      kept.push(line);
    const [, value] = /^ +(%[\w]+) = arith\.constant .* : (?:index|i\d+|f\d+)$/.exec(line) ?? [];
    if (value !== undefined) constants.set(value, line);
  }
  for (const line of lines) {
    const match = DISPATCH.exec(line);
    if (match === null) continue;
    const own = nameOfSymbol(match[2]!);
    if (!executables.has(own) || elided.has(own) || dispatches.some((one) => one.executable === own))
      continue;
    const found = functionOf(match, `check${dispatches.length}`, constants);
    if (found === null) continue;
    dispatches.push({ executable: own, ...found.dispatch });
    functions.push(found.text);
  }
  const guarded = new Set(
    dispatches.flatMap((one) => one.arguments.filter(hasGuards).map(({ elementType }) => elementType)),
  );
  const all = [...kept, ...[...guarded].map(guardingFunction), ...functions, ''];
  return { text: all.join('\n'), dispatches };
}

/** Text between commas that are not within brackets. */
function listed(text: string): string[] {
  const parts: string[] = [];
  let [depth, from] = [0, 0];
  for (let i = 0; i <= text.length; i++) {
    const c = text[i];
    if (c === '<' || c === '(' || c === '{') depth++;
    else if (c === '>' || c === ')' || c === '}') depth--;
    else if ((c === ',' && depth === 0) || c === undefined) {
      parts.push(text.slice(from, i).trim());
      from = i + 1;
    }
  }
  return parts.filter((part) => part !== '');
}

/** Guards need elements of whole bytes. */
const isGuarded = (elementType: string) => elementType !== 'i1' && elementBits(elementType) >= 8;

/** An operand that a dispatch overwrites, and its type. */
const TIED = new RegExp(String.raw`^(${VALUE})(?: as (.*))?$`);

/** The function of a dispatch; null if its operands are not static tensors or constants. */
function functionOf(
  [, head = '', , workload = '', operands = '', types = '', resultTypes = '']: readonly string[],
  name: string,
  constants: ReadonlyMap<string, string>,
): { readonly text: string; readonly dispatch: Omit<DispatchAlone, 'executable'> } | null {
  const body: string[] = [];
  const copied = new Set<string>();
  const copy = (value: string): boolean => {
    const line = constants.get(value);
    if (line === undefined) return false;
    if (!copied.has(value)) body.push(line);
    copied.add(value);
    return true;
  };
  if (!listed(workload).every(copy)) return null;
  const args: Tensor[] = [];
  const names = new Map<string, string>();
  const values = listed(operands);
  const typed = listed(types);
  for (const [i, value] of values.entries()) {
    const type = tensorFromText(typed[i] ?? '');
    if (type === null) {
      if (typed[i]!.startsWith('tensor') || !copy(value)) return null;
    } else if (!names.has(value)) {
      const own = `in${args.length}`;
      names.set(value, `%${own}`);
      body.push(operandLines(own, `%arg${args.length}`, type));
      args.push(type);
    }
  }
  const given = values.map((value) => names.get(value) ?? value);
  const results = listed(resultTypes.startsWith('(') ? resultTypes.slice(1, -1) : resultTypes);
  const tied = results.map((text) => TIED.exec(text));
  const whole = results.map((text, i) => {
    const [, value, type] = tied[i] ?? [];
    return value === undefined ? text : (type ?? typed[values.indexOf(value)] ?? '');
  });
  const outs = whole.map(tensorFromText);
  if (outs.length === 0 || outs.includes(null)) return null;
  const spelled = results.map((text, i) => {
    const [, value, type] = tied[i] ?? [];
    return value === undefined
      ? text
      : `${names.get(value) ?? value}${type === undefined ? '' : ` as ${type}`}`;
  });
  const single = outs.length === 1;
  const to = single ? spelled[0]! : `(${spelled.join(', ')})`;
  body.push(
    `    %out${single ? '' : `:${outs.length}`} = ${head}(${given.join(', ')}) : (${types}) -> ${to}`,
  );
  const returned: string[] = [];
  const kinds: Tensor[] = [];
  for (const [i, type] of outs.entries()) {
    const value = single ? '%out' : `%out#${i}`;
    const isPlain = tied[i] !== null || !isGuarded(type!.elementType);
    body.push(isPlain ? plainResult(`out${i}`, value, type!) : guardedResult(i, value, type!));
    returned.push(
      ...(isPlain
        ? [`%out${i}_view`]
        : ['exported', 'before_view', 'behind_view'].map((part) => `%out${i}_${part}`)),
    );
    const guard = { elementType: 'i8', shape: [GUARD_BYTES] };
    kinds.push(type!, ...(isPlain ? [] : [guard, guard]));
  }
  const views = returned.map(() => '!hal.buffer_view').join(', ');
  const parameters = args.map((_, i) => `%arg${i}: !hal.buffer_view`).join(', ');
  const text = `  util.func public @${name}(${parameters}) -> (${views}) attributes {iree.abi.stub, ${NOT_INLINED}} {
${body.join('\n')}
    util.return ${returned.join(', ')} : ${views}
  }`;
  return {
    text,
    dispatch: { name, arguments: args, results: kinds, isFilled: kinds.length === 3 * outs.length },
  };
}

/** Lines that define `%name`, the argument between guards of NaN. */
function operandLines(name: string, argument: string, type: Tensor): string {
  const { shape, elementType } = type;
  const [tensor, elements] = [tensorText(type), elementsOf(shape)];
  if (!hasGuards(type)) return `    %${name} = hal.tensor.import ${argument} : !hal.buffer_view -> ${tensor}`;
  const length = (elements * elementBits(elementType)) / 8;
  return `    %${name}_elements = arith.constant ${elements} : index
    %${name}_filled = util.call @guarded_${elementType}(${argument}, %${name}_elements) : (!hal.buffer_view, index) -> !hal.buffer_view
${viewLines({ name, shape, elementType }, { offset: GUARD_BYTES, length })}
    %${name} = hal.tensor.import %${name}_view : !hal.buffer_view -> ${tensor}`;
}

const hasGuards = ({ shape, elementType }: Tensor) => isGuarded(elementType) && elementsOf(shape) > 0;

/** A function that copies an operand of any size between guards. These lines for each operand would take a sixth of a compile. */
function guardingFunction(elementType: string): string {
  const guard = (GUARD_BYTES * 8) / elementBits(elementType);
  const type = `tensor<?x${elementType}>`;
  return `  util.func private @guarded_${elementType}(%view: !hal.buffer_view, %elements: index) -> !hal.buffer_view attributes {${NOT_INLINED}} {
    %buffer = hal.buffer_view.buffer<%view : !hal.buffer_view> : !hal.buffer
    %length = hal.buffer.length<%buffer : !hal.buffer> : index
    %first = arith.constant 0 : index
    %type = hal.element_type<${elementType}> : i32
    %encoding = hal.encoding_type<dense_row_major> : i32
    %flat = hal.buffer_view.create buffer(%buffer : !hal.buffer)[%first, %length] shape([%elements]) type(%type) encoding(%encoding) : !hal.buffer_view
    %given = hal.tensor.import %flat : !hal.buffer_view -> ${type}{%elements}
    %at = arith.constant ${guard} : index
    %both = arith.constant ${2 * guard} : index
    %all = arith.addi %elements, %both : index
    %outside = arith.constant ${guardValue(elementType)} : ${elementType}
    %guards = flow.tensor.splat %outside : ${type}{%all}
    %whole = flow.tensor.update %given, %guards[%at] : ${type}{%elements} -> %guards as ${type}{%all}
    %filled = hal.tensor.export %whole : ${type}{%all} -> !hal.buffer_view
    util.return %filled : !hal.buffer_view
  }`;
}

const plainResult = (name: string, value: string, type: Tensor): string =>
  `    %${name}_view = hal.tensor.export ${value} : ${tensorText(type)} -> !hal.buffer_view`;

/**
 * Lines that write a result between guards, and define views of the result and of both guards. Each result has a byte of its own: the
 * compiler gives equal memories to one buffer, where the results would overwrite each other.
 */
function guardedResult(i: number, value: string, type: Tensor): string {
  const name = `out${i}`;
  const { shape, elementType } = type;
  const bytes = (elementsOf(shape) * elementBits(elementType)) / 8;
  const memory = `tensor<${bytes + 2 * GUARD_BYTES}xi8>`;
  const part = (own: string, view: Tensor, offset: number, length: number) =>
    viewLines({ name: `${name}_${own}`, ...view }, { offset, length }).replaceAll(
      `%${name}_${own}_filled`,
      `%${name}_memory`,
    );
  const guard = { shape: [GUARD_BYTES], elementType: 'i8' };
  return `    %${name}_byte = arith.constant ${UNWRITTEN_BYTE - (i % UNWRITTEN_BYTE)} : i8
    %${name}_splat = flow.tensor.splat %${name}_byte : ${memory}
    %${name}_memory = hal.tensor.export %${name}_splat : ${memory} -> !hal.buffer_view
${part('result', type, GUARD_BYTES, bytes)}
${part('before', guard, 0, GUARD_BYTES)}
${part('behind', guard, GUARD_BYTES + bytes, GUARD_BYTES)}
    %${name}_written = hal.tensor.alias ${value} : ${tensorText(type)} to %${name}_result_view : !hal.buffer_view
    %${name}_exported = hal.tensor.export %${name}_written : ${tensorText(type)} -> !hal.buffer_view`;
}
