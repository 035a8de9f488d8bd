// A program after the compiler's phase `flow`: its executables, their operations and their calls. The compiler prints one operation on each
// line, with two spaces of indentation for each level.
import { bufferOf } from '../system/bytes.ts';
import { sha256 } from '../system/hash.ts';
import { parse, type Operation } from 'mlir-parser-ts';
import { withoutLocations } from '../compiler/locations.ts';
import { nameOfSymbol, SYMBOL, VALUE } from '../compiler/symbol.ts';
import { elementBits, isSimpleType } from '../workload/element-type.ts';
import { elementsOf, sizesBefore, type Tensor } from '../workload/tensor.ts';

export interface Flow {
  readonly bytes: Uint8Array;
  /** As latin1, so that byte offsets and character offsets agree. */
  readonly text: string;
  readonly executables: readonly Executable[];
  /** In the order of the text. */
  readonly operations: readonly Operation[];
}

export interface Executable {
  readonly name: string;
  /** Byte offsets [start, end) in the program. */
  readonly start: number;
  readonly end: number;
  /** Its only function, in canonical form; null for several functions or unknown workgroups. */
  readonly function: DispatchFunction | null;
  readonly operations: readonly Operation[];
  readonly calls: readonly Call[];
}

interface DispatchFunction {
  readonly text: string;
  /** Identifies the computation, hexadecimal. */
  readonly digest: string;
  /** Null for a signature that is not understood. */
  readonly signature: Signature | null;
}

/** Reads a program, in one pass. Pure. */
export function readFlow(bytes: Uint8Array): Flow {
  const text = bufferOf(bytes).toString('latin1');
  const { operations } = parse(bytes);
  const calls = callsOf(text);
  let next = 0;
  const executables = [...text.matchAll(EXECUTABLES)].map(({ 1: symbol, index: start }): Executable => {
    const name = nameOfSymbol(symbol!);
    const close = /\n {2}\}(?: loc\([^\n]*)?\n/g;
    close.lastIndex = start;
    const end = close.exec(text)?.index ?? text.length;
    while (next < operations.length && operations[next]!.start < start) next++;
    const first = next;
    while (next < operations.length && operations[next]!.start < end) next++;
    return {
      ...{ name, start, end, calls: calls.get(name) ?? [] },
      operations: operations.slice(first, next),
      function: functionIn(text.slice(start, end)),
    };
  });
  return { bytes, text, executables, operations };
}

/** Regular expression for the first line of an executable. Its group is the symbol. */
export const EXECUTABLE = String.raw`^ {2}flow\.executable private (${SYMBOL}) \{$`;
const EXECUTABLES = new RegExp(EXECUTABLE, 'gm');
const EXPORT = new RegExp(
  String.raw`^ {4}flow\.executable\.export public ${SYMBOL} workgroups\(.*\) ->`,
  'm',
);
const FUNCTION = new RegExp(String.raw`^( {6}func\.func) (?:private |public )?${SYMBOL}\(`);
const FUNCTIONS = new RegExp(FUNCTION, 'gm');

/** The only function of an executable; null for several functions or unknown workgroups. */
function functionIn(executable: string): DispatchFunction | null {
  const [first, ...others] = executable.matchAll(FUNCTIONS);
  if (first === undefined || others.length > 0 || !EXPORT.test(executable)) return null;
  const last = executable.indexOf('\n      }', first.index) + '\n      }'.length;
  const text = canonical(executable.slice(first.index, last));
  return { text, digest: digestOf(text), signature: signatureOf(text) };
}

/** Digest of a dispatch's text, hexadecimal. */
export const digestOf = (text: string): string => sha256(text).slice(0, 16);

/** Most elements of a constant inside a dispatch, such as the biases of a convolution. */
const MOST_CONSTANTS = 4096;

/**
 * The text with small integers as the values of elided constants. All candidates get equal constants. They are no splats, because
 * the compiler folds splats.
 */
const withConstants = (text: string): string =>
  text.replaceAll(
    /\bdense_resource<__elided__> : (tensor<((?:\d+x)+)(b?f\d+|[su]?i\d+)>)/g,
    (elided, type: string, shape: string, elementType: string) => {
      const sizes = sizesBefore(shape);
      const count = sizes.reduce((product, size) => product * size, 1);
      if (count > MOST_CONSTANTS || count < 2) return elided;
      const isFloat = /^b?f/.test(elementType);
      const isBit = elementType === 'i1';
      let at = 0;
      const listed = (depth: number): string =>
        depth === sizes.length
          ? `${isBit ? at++ % 2 === 1 : at++ % 4}${isFloat ? '.0' : ''}`
          : `[${Array.from({ length: sizes[depth]! }, () => listed(depth + 1)).join(', ')}]`;
      return `dense<${listed(0)}> : ${type}`;
    },
  );

/** The function as `@dispatch`, without locations and marks. */
const canonical = (text: string): string =>
  withConstants(withoutLocations(text))
    .replace(FUNCTION, '$1 @dispatch(')
    .replace(/, iree_tuned_\w+ = \d+ : i64|iree_tuned_\w+ = \d+ : i64, /g, '')
    .replace(/ attrs = {2}\{iree_tuned_\w+ = \d+ : i64\}| \{iree_tuned_\w+ = \d+ : i64\}/g, '');

/** A tensor that a dispatch reads or writes. */
interface Argument extends Tensor {
  /** Such as `%arg0`. */
  readonly name: string;
  /** Such as `readonly`. */
  readonly access: string;
}

/** The declarations of the arguments in the text of a function; null for text in another layout. */
export function declarationsIn(text: string): readonly string[] | null {
  const list = /@dispatch\((.*)\)(?: attributes \{[^\n]*\})? \{\n/.exec(text)?.[1];
  return list === '' ? [] : (list?.split(/, (?=%)/) ?? null);
}

/** The argument of a declaration; null for another type than a tensor of static shape. */
export function argumentOf(declaration: string): Argument | null {
  const [, name, access, shape, elementType] = ARGUMENT.exec(declaration) ?? [];
  return name === undefined || !isSimpleType(elementType)
    ? null
    : { name, access: access!, shape: sizesBefore(shape!), elementType: elementType! };
}

const ARGUMENT = /^(%\w+): !(?:iree_tensor_ext|flow)\.dispatch\.tensor<(\w+):tensor<((?:\d+x)*)(\w+)>>$/;

interface Signature {
  readonly types: readonly Tensor[];
  /** Number of result arguments, which come last. */
  readonly results: number;
}

/**
 * Types of a function's arguments. The last argument is written, as a whole or in part, or the last few as a whole. Null for other
 * signatures.
 */
function signatureOf(text: string): Signature | null {
  const all = (declarationsIn(text) ?? []).map(argumentOf);
  const found = all.filter((one) => one !== null);
  if (found.length < all.length) return null;
  const inputs = found.findIndex(({ access }) => access !== 'readonly');
  const written = inputs < 0 ? [] : found.slice(inputs);
  const isUnderstood =
    written.length > 0 &&
    written.every(
      ({ name, access }) =>
        access !== 'readonly' &&
        !text.includes(`dispatch.tensor.load ${name},`) &&
        (access === 'writeonly' || written.length === 1),
    );
  const types = found.map(({ shape, elementType }) => ({ shape, elementType }));
  return isUnderstood ? { types, results: written.length } : null;
}

/** A call of a dispatch. */
export interface Call {
  /** For each operand, the argument, global or constant that it comes from; null for an intermediate result. */
  readonly operands: readonly (string | null)[];
  /** Bytes of all arguments, globals and constants that the calling function reads. */
  readonly streamedBytes: number;
}

/** Regular expression for a call of a dispatch, up to the types of its operands. Its groups are the executable's symbol and the operands. */
export const CALL = String.raw`flow\.dispatch (${SYMBOL})::${SYMBOL}(?:\[[^\]]*\])?\(([^)]*)\) : \(`;
const CALLED = new RegExp(String.raw`${CALL}([^)]*)\)`);

/** The first value that an operation makes. Groups: the value, the operation, and its first operand. */
const MADE = new RegExp(String.raw`^ +(${VALUE})(?::\d+)? = (\S+) (?:immutable )?(\S*)`);

/** The calls of each executable. */
function callsOf(text: string): Map<string, Call[]> {
  const sites = new Map<string, Call[]>();
  const functions = text.matchAll(/^ {2}util\.func [^\n]*\{\n([^]*?)^ {2}\}/gm);
  for (const [, body] of functions) {
    const source = new Map<string, string>();
    const bytes = new Map<string, number>();
    const calls: { executable: string; operands: (string | null)[] }[] = [];
    for (const line of body!.split('\n')) {
      const made = MADE.exec(line);
      if (made !== null) {
        const [, name, operation, first] = made;
        if (operation === 'hal.tensor.import') source.set(name!, name!);
        else if (operation === 'util.global.load') source.set(name!, first!);
        else if (operation === 'flow.tensor.constant') source.set(name!, name!);
        else if (/^flow\.tensor\.(?:reshape|bitcast|transfer)$/.test(operation!)) {
          const origin = source.get(first!);
          if (origin !== undefined) source.set(name!, origin);
        }
      }
      const call = CALLED.exec(line);
      if (call === null) continue;
      const names = call[2] === '' ? [] : call[2]!.split(', ');
      const types = [...call[3]!.matchAll(/tensor<((?:[\d?]+x)*)(\w+)>|[^,\s]+/g)];
      for (const [i, name] of names.entries()) {
        const origin = source.get(name);
        const [, shape, elementType] = types[i] ?? [];
        if (origin !== undefined && elementType !== undefined && !shape!.includes('?'))
          bytes.set(origin, Math.max(bytes.get(origin) ?? 0, bytesOf(sizesBefore(shape!), elementType)));
      }
      calls.push({
        executable: nameOfSymbol(call[1]!),
        operands: names.map((name) => source.get(name) ?? null),
      });
    }
    const streamedBytes = [...bytes.values()].reduce((sum, size) => sum + size, 0);
    for (const { executable, operands } of calls)
      sites.set(executable, [...(sites.get(executable) ?? []), { operands, streamedBytes }]);
  }
  return sites;
}

export const bytesOf = (shape: readonly number[], elementType: string): number =>
  Math.ceil((elementsOf(shape) * elementBits(elementType)) / 8);

/** A module-level block, up to its closing line. */
const INITIALIZER = /^ {2}util\.initializer\b[^]*?^ {2}\}[^\n]*\n/gm;
const WHOLE_EXECUTABLES = new RegExp(String.raw`${EXECUTABLE}[^]*?^ {2}\}[^\n]*\n`, 'gm');
const DISPATCHED = new RegExp(String.raw`\bflow\.dispatch (${SYMBOL})::`, 'g');

/**
 * The text without initializers, which run only once, when the program is loaded, and without executables that only initializers dispatch.
 */
export function withoutInitializers(flow: Uint8Array): Uint8Array {
  const text = bufferOf(flow).toString('latin1');
  const rest = text.replace(INITIALIZER, '');
  if (rest.length === text.length) return flow;
  const dispatched = new Set([...rest.matchAll(DISPATCHED)].map(([, symbol]) => symbol));
  const own = rest.replace(WHOLE_EXECUTABLES, (executable, symbol: string) =>
    dispatched.has(symbol) ? executable : '',
  );
  return Buffer.from(own, 'latin1');
}
