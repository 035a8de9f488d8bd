// Reads the dispatches of a program after the compiler's phase `flow`. The compiler prints one operation on each line, with two
// spaces of indentation for each level.
import { createHash } from 'node:crypto';
import { parse, type Operation } from 'mlir-parser-ts';
import { backendNamed } from '../backend/index.ts';
import { nameOfSymbol, SYMBOL } from '../compiler/symbol.ts';
import { elementBits, isSimpleType } from '../workload/element-type.ts';
import { BOUND_BY_WIDE_WORK, BOUND_BY_WORK, LEAST_STREAMED } from '../workload/contraction/traffic.ts';
import { elementsOf, sizesBefore, type Tensor } from '../workload/tensor.ts';
import { rootFormOf, workloadFlops, type OperationWorkload } from '../workload/workload.ts';

/** A dispatch whose root can be tuned in its dispatch. */
export interface ProgramDispatch {
  /** Name of the executable. */
  readonly executable: string;
  /** Byte offsets [start, end) of its function in the program. */
  readonly start: number;
  readonly end: number;
  /** The root. Its context is the dispatch, unless the root can be measured alone. */
  readonly form: OperationWorkload;
}

/** Most buffers of one operand. */
const MOST_BUFFERS = 256;

/** Most bytes of the buffers of one operand. */
const MOST_BYTES = 512 * 1024 * 1024;

/**
 * Least bytes of the buffers of a streamed operand. The last-level cache may be larger than all weights of a program, but results
 * and other processes use that cache too, so it does not keep the weights.
 */
const COLD_BYTES = 64 * 1024 * 1024;

/** In bytes. No cache keeps the weights of a program that reads more. */
const LEAST_PASSING = 32 * 1024 * 1024;

/** Largest share of these bytes that one dispatch reads itself. */
const OWN_SHARE = 0.25;

/** The dispatches with exactly one multiply-add operation; all other work in them is element-wise. Pure. */
export function dispatchesOf(flow: Uint8Array): ProgramDispatch[] {
  const text = characters(flow);
  const executables = executablesOf(text);
  const sites = sitesOf(text);
  const hasWideVectors = /\bnative_vector_size = 64\b/.test(text);
  const backend = backendNamed(/#hal\.executable\.target<"([\w-]+)"/.exec(text)?.[1] ?? '');
  const { operations } = parse(flow);
  let next = 0;
  return executables.flatMap((executable): ProgramDispatch[] => {
    while (next < operations.length && operations[next]!.start < executable.start) next++;
    const own: Operation[] = [];
    while (next < operations.length && operations[next]!.start < executable.end)
      own.push(operations[next++]!);
    const [root] = own;
    const calls = sites.get(executable.name);
    if (root === undefined || own.length !== 1 || calls === undefined || executable.function === null)
      return [];
    const form = rootFormOf(root);
    if (form === null || form.workload.dimensions.some(({ sizes }) => sizes !== undefined)) return [];
    if (typeof backend?.tuning(form.workload).unsupported === 'string') return [];
    const signature = signatureOf(executable.function.text);
    if (signature === null || !isElementwiseBeside(executable.function.text)) return [];
    const isPlain = root.indexingMaps.every(({ strided, windows }) => !strided && !windows);
    const { types, results } = signature;
    const streamed = streamedBuffers(types, calls, workloadFlops(form.workload), hasWideVectors);
    const { start, end } = executable.function;
    const found = { executable: executable.name, start, end };
    // Cheap fused operations change little: the root is measured alone.
    const isLight = !/= math\.(?!(?:absf|floor|ceil|fma)\b)/.test(executable.function.text);
    if (isPlain && isLight && results === 1 && streamed.every((buffers) => buffers === 1))
      return [{ ...found, form }];
    const dispatch = {
      text: executable.function.text,
      arguments: types.map((type, i) => ({ ...type, buffers: streamed[i]! })),
      ...(results > 1 && { results }),
      loops: form.loops,
      isStrided: !isPlain,
    };
    const digest = digestOf(JSON.stringify(dispatch));
    return [{ ...found, form: { ...form, workload: { ...form.workload, context: { digest, dispatch } } } }];
  });
}

/** Maps a byte offset to the name of the executable around it; null outside of executables. */
export function executableAt(flow: Uint8Array): (offset: number) => string | null {
  const executables = executablesIn(flow);
  return (offset) => executables.find(({ start, end }) => start <= offset && offset < end)?.name ?? null;
}

export interface Executable {
  readonly name: string;
  readonly start: number;
  readonly end: number;
  /** Its only function; null for several functions or unknown workgroups. */
  readonly function: { readonly start: number; readonly end: number; readonly text: string } | null;
}

/** The text of a program as latin1, so that byte offsets and character offsets agree. */
const characters = (flow: Uint8Array): string =>
  Buffer.from(flow.buffer, flow.byteOffset, flow.byteLength).toString('latin1');

/** Digest of a dispatch's text, hexadecimal. */
export const digestOf = (text: string): string =>
  createHash('sha256').update(text).digest('hex').slice(0, 16);

/** The executables of a program after the phase `flow`. */
export const executablesIn = (flow: Uint8Array): Executable[] => executablesOf(characters(flow));

/** Regular expression for the first line of an executable after the phase `flow`. Its group is the symbol. */
export const EXECUTABLE = String.raw`^ {2}flow\.executable private (${SYMBOL}) \{$`;

const EXECUTABLES = new RegExp(EXECUTABLE, 'gm');
const EXPORT = new RegExp(
  String.raw`^ {4}flow\.executable\.export public ${SYMBOL} workgroups\(.*\) ->`,
  'm',
);
const FUNCTION = new RegExp(String.raw`^( {6}func\.func) (?:private |public )?${SYMBOL}\(`);
const FUNCTIONS = new RegExp(FUNCTION, 'gm');

function executablesOf(text: string): Executable[] {
  return [...text.matchAll(EXECUTABLES)].map(({ 1: symbol, index: start }): Executable => {
    const name = nameOfSymbol(symbol!);
    const close = /\n {2}\}(?: loc\([^\n]*)?\n/g;
    close.lastIndex = start;
    const end = close.exec(text)?.index ?? text.length;
    const body = text.slice(start, end);
    const functions = [...body.matchAll(FUNCTIONS)];
    const [first] = functions;
    const isPlain = EXPORT.test(body);
    if (first === undefined || functions.length !== 1 || !isPlain)
      return { name, start, end, function: null };
    const last = body.indexOf('\n      }', first.index) + '\n      }'.length;
    const own = canonical(body.slice(first.index, last));
    return {
      name,
      start,
      end,
      function: { start: start + first.index, end: start + last, text: own },
    };
  });
}

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

/** Removes each `loc(...)` from a text of the compiler. */
export function withoutLocations(text: string): string {
  let kept = '';
  for (let at = 0; ;) {
    const start = text.indexOf(' loc(', at);
    if (start < 0) return kept + text.slice(at);
    kept += text.slice(at, start);
    const token = /"(?:[^"\\]|\\.)*"|[()]/g;
    token.lastIndex = start;
    let depth = 0;
    do {
      const [found] = token.exec(text) ?? [''];
      // An unterminated location reaches to the end of the text.
      if (found === '') return kept;
      depth += found === '(' ? 1 : found === ')' ? -1 : 0;
    } while (depth > 0 || text[token.lastIndex - 1] === '"');
    at = token.lastIndex;
  }
}

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
export function signatureOf(text: string): Signature | null {
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

/** Whether a dispatch is safe on arbitrary values: it reads no index from memory. */
const isElementwiseBeside = (text: string): boolean =>
  [...text.matchAll(/(?:^|= )\s*("?[a-z_]+(?:\.[a-z_]+)+"?)/gm)].every(([, name]) =>
    /^(?:func\.func|(?:iree_tensor_ext|flow)\.dispatch\.tensor\.(?:load|store)|arith\.\w+|math\.\w+|linalg\.(?:fill|generic|yield|matmul\w*|batch_\w+|vecmat|matvec|dot|transpose|broadcast)|tensor\.(?:empty|expand_shape|collapse_shape|extract_slice)|affine_map|iterator_types)$/.test(
      name!,
    ),
  ) && !/elided|dense_resource/.test(text);

/** A call of a dispatch. */
interface Site {
  /** For each operand, the argument, global or constant that it comes from; null for an intermediate result. */
  readonly operands: readonly (string | null)[];
  /** Bytes of all arguments, globals and constants that the calling function reads. */
  readonly streamedBytes: number;
}

const CALL = new RegExp(
  String.raw`flow\.dispatch (${SYMBOL})::${SYMBOL}(?:\[[^\]]*\])?\(([^)]*)\) : \(([^)]*)\)`,
);

/** The calls of each executable. */
function sitesOf(text: string): Map<string, Site[]> {
  const sites = new Map<string, Site[]>();
  const functions = text.matchAll(/^ {2}util\.func [^\n]*\{\n([^]*?)^ {2}\}/gm);
  for (const [, body] of functions) {
    const source = new Map<string, string>();
    const bytes = new Map<string, number>();
    const calls: { executable: string; operands: (string | null)[] }[] = [];
    for (const line of body!.split('\n')) {
      const made = /^ +(%[\w#]+)(?::\d+)? = (\S+) (?:immutable )?(\S*)/.exec(line);
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
      const call = CALL.exec(line);
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

/**
 * For each argument, the number of buffers through which calls rotate. If memory limits a dispatch, its weights must come from
 * memory, as in the program, which reads all other weights between two calls. Otherwise one buffer is enough.
 */
function streamedBuffers(
  types: readonly Tensor[],
  calls: readonly Site[],
  flops: number,
  hasWideVectors: boolean,
): number[] {
  const sizes = types.map(({ shape, elementType }) => bytesOf(shape, elementType));
  const isStreamed = sizes.map(
    (size, i) => size >= LEAST_STREAMED && calls.some(({ operands }) => typeof operands[i] === 'string'),
  );
  const streamed = sizes.reduce((sum, size, i) => (isStreamed[i]! ? sum + size : sum), 0);
  const passing = Math.max(...calls.map(({ streamedBytes }) => streamedBytes));
  const isFarMore = passing >= LEAST_PASSING && streamed <= OWN_SHARE * passing;
  const most = hasWideVectors && isFarMore ? BOUND_BY_WIDE_WORK : BOUND_BY_WORK;
  if (streamed === 0 || flops / streamed > most) return sizes.map(() => 1);
  // The program reads hardly anything else.
  const isAlone = (size: number) => passing < 1.5 * size;
  const spread = Math.min(MOST_BYTES, Math.max(COLD_BYTES, passing));
  // A power of two, so that programs that differ in a layer share workloads.
  return sizes.map((size, i) =>
    isStreamed[i]! && !isAlone(size)
      ? Math.min(MOST_BUFFERS, 2 ** Math.max(0, Math.round(Math.log2(spread / size))))
      : 1,
  );
}
