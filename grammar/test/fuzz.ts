// Mutants of texts, equal for equal seeds. No reader may throw, and all offsets must be in the input.
import {
  dialectAttributes,
  functions,
  insertionFor,
  integerOf,
  locationsOf,
  type Operation,
  parse,
  type ParseOptions,
  symbolsOf,
} from '../src/main.ts';

/** In bytes. Of a longer text, only a window of this size is mutated, so that there can be many mutants. */
const LONGEST = 32 * 1024;

export interface FuzzResult {
  readonly slowest: { readonly index: number; readonly bytes: number; readonly milliseconds: number };
  readonly failures: readonly { readonly index: number; readonly reason: string }[];
}

/** Reads `count` mutants of the texts. More than `limit` milliseconds for one is a failure too. */
export function fuzz(
  texts: readonly (Uint8Array | string)[],
  count: number,
  seed: number,
  limit: number,
): FuzzResult {
  const encoder = new TextEncoder();
  const inputs = texts.map((text) => (typeof text === 'string' ? encoder.encode(text) : text));
  const failures: { index: number; reason: string }[] = [];
  let slowest = { index: 0, bytes: 0, milliseconds: 0 };
  for (let index = 0; index < count; index++) {
    const input = mutant(inputs, seed, index);
    const begin = performance.now();
    const reason = failureOf(input, { splitInputFile: index % 2 === 0 });
    const milliseconds = performance.now() - begin;
    if (milliseconds > slowest.milliseconds) slowest = { index, bytes: input.length, milliseconds };
    if (reason !== null) failures.push({ index, reason });
    else if (milliseconds > limit) failures.push({ index, reason: `${milliseconds.toFixed(0)} ms` });
  }
  return { slowest, failures };
}

function failureOf(input: Uint8Array, options: ParseOptions): string | null {
  try {
    const { operations, problems } = parse(input, options);
    let last = 0;
    for (const operation of operations) {
      const { start, end } = operation;
      if (start < last || end <= start || end > input.length) return `an operation at [${start}, ${end})`;
      const { offset } = insertionFor(operation, 'x');
      if (offset <= start || offset > end) return `an insertion at ${offset} outside of [${start}, ${end})`;
      for (const { name, start: from, end: to } of operation.attributes)
        if (to <= from || to > input.length) return `the attribute ${name} at [${from}, ${to})`;
      last = end;
    }
    const outside = problems.find(({ offset }) => offset < 0 || offset > input.length);
    if (outside !== undefined) return `a problem at ${outside.offset}: ${outside.message}`;
    return wrongReading(input, operations);
  } catch (error) {
    return error instanceof Error ? (error.stack ?? error.message) : String(error);
  }
}

/** The first problem with the results of other readers: an offset outside of the input, or missing locations. */
export function wrongReading(input: Uint8Array, operations: readonly Operation[]): string | null {
  const locations = locationsOf(input, operations);
  if (locations.length !== operations.length)
    return `${locations.length} locations of ${operations.length} operations`;
  for (const { attributes } of operations) for (const attribute of attributes) integerOf(input, attribute);
  symbolsOf(input, 'func.func');
  for (const found of [functions(input), dialectAttributes(input, '#a.b')]) {
    let last = 0;
    for (const { start, end } of found) {
      if (start < last || end <= start || end > input.length) return `something at [${start}, ${end})`;
      last = end;
    }
  }
  return null;
}

/** Mutant number `index`. It depends only on the texts, the seed and the index. */
export function mutant(texts: readonly Uint8Array[], seed: number, index: number): Uint8Array {
  const random = generator(seed, index);
  const below = (limit: number): number => Math.floor(random() * limit);
  const pick = (): Uint8Array => {
    const text = texts[below(texts.length)]!;
    const start = below(Math.max(1, text.length - LONGEST + 1));
    return text.subarray(start, start + LONGEST);
  };
  const piece = (text: Uint8Array, longest: number): Uint8Array => {
    const start = below(text.length + 1);
    return text.subarray(start, start + below(longest));
  };
  let text = Uint8Array.from(pick());
  for (let rounds = 1 + below(4); rounds > 0; rounds--) {
    const at = below(text.length + 1);
    switch (below(9)) {
      case 0:
        for (let flips = 1 + below(16); flips > 0 && text.length > 0; flips--)
          text[below(text.length)]! ^= 1 << below(8);
        break;
      case 1:
        text = text.slice(0, at);
        break;
      case 2:
        text = text.slice(at);
        break;
      case 3:
        text = join(text.subarray(0, at), piece(pick(), 2000), text.subarray(at));
        break;
      case 4:
        text = join(
          text.subarray(0, at),
          Uint8Array.from({ length: below(64) }, () => below(256)),
          text.subarray(at),
        );
        break;
      case 5:
        text = join(text.subarray(0, at), text.subarray(at + below(200)));
        break;
      case 6: {
        const token = TOKENS[below(TOKENS.length)]!;
        text = join(text.subarray(0, at), token, text.subarray(at + below(3)));
        break;
      }
      case 7: {
        // A repeated fragment reveals more than linear time.
        const fragment = below(2) === 0 ? TOKENS[below(TOKENS.length)]! : piece(text, 60);
        const times = below(LONGEST / Math.max(8, fragment.length));
        text = join(
          text.subarray(0, at),
          ...Array.from({ length: times }, () => fragment),
          text.subarray(at),
        );
        break;
      }
      default:
        for (let changes = 1 + below(8); changes > 0 && text.length > 0; changes--)
          text[below(text.length)] = PUNCTUATION[below(PUNCTUATION.length)]!;
        break;
    }
  }
  return text;
}

const encode = (text: string): Uint8Array => new TextEncoder().encode(text);

const PUNCTUATION = encode('{}()[]<>",:=-#%@!^/\\ \n\r\0?*x0');

const TOKENS = [
  ...['{', '}', '(', ')', '[', ']', '<', '>', '"', '->', '=', ',', ':', '\n', '{-#', '#-}', '// -----', '//'],
  ...[
    '<{',
    '}>',
    '\\',
    '#a',
    '!a',
    '@a',
    '@"',
    '%0',
    '%0#1',
    '^bb0',
    '#a = ',
    '!a = ',
    'tensor<',
    'affine_map<(',
  ],
  ...[
    'linalg.matmul ',
    'linalg.generic {',
    '"linalg.matmul"(',
    '"linalg.generic"(',
    'ins(',
    'outs(',
    'attrs = {',
  ],
  ...['indexing_maps = [', 'iterator_types = [', 'linalg.contract indexing_maps = #a', 'linalg.generic #a '],
  ...[
    '#a = #a\n',
    '#a = {b = #a}\n',
    '#a = [#a, #a]\n',
    '!a = tensor<2x!a>\n',
    'transform.named_sequence @a {',
  ],
  ...[
    'arith.constant ',
    'util.global @a = ',
    'func.func @a() {',
    'module @a {',
    '%0 = ',
    '%a, %b = ',
    '%0:2 = ',
    '%1 = linalg.generic #a ins(%0 : !a) outs(%a : !a) {',
    '%2 = "arith.addf"(%0, %1)',
    'linalg.map { arith.addf } ins(%0 ',
    'return %0',
    'func.func @a(%0: !a {a = #a}) -> (!a, f32) {',
    'func.func @a(%0: tensor<',
    '#a.b<"a", {a = #a, b = <c = [',
    '#a.b<#a>',
    ' loc(#a)',
    ' loc(fused[#a, "a":1:2])',
    '#a = loc(fused[#a, "a":1:2])\n',
    '"\\"',
    '"\\41',
    '\xff',
    '\ufeff',
  ],
].map(encode);

function join(...parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const text = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    text.set(part, at);
    at += part.length;
  }
  return text;
}

/** Numbers in [0, 1). */
function generator(seed: number, index: number): () => number {
  let state = (Math.imul(seed, 0x9e3779b1) ^ Math.imul(index + 1, 0x85ebca6b)) >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let value = Math.imul(state ^ (state >>> 15), state | 1);
    value ^= value + Math.imul(value ^ (value >>> 7), value | 61);
    return ((value ^ (value >>> 14)) >>> 0) / 2 ** 32;
  };
}
