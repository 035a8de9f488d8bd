// Surprising MLIR texts, each checked against the compiler.
import { describe, expect, test } from 'vitest';
import { applyInsertions, insertionFor } from '../src/main.ts';
import { rows } from '../src/table.ts';
import { body, bytes, parseText, types } from './fixtures.ts';
import { ireeOpt, readGenericPrint, reprint } from './oracle.ts';

const [a, b, c] = ['tensor<3x5xf32>', 'tensor<5x7xf32>', 'tensor<3x7xf32>'];
const lists = `ins(%a, %b : ${a}, ${b}) outs(%c : ${c})`;
const matmul = `linalg.matmul ${lists} -> ${c}`;
const map = (results: string): string => `affine_map<(d0, d1, d2) -> (${results})>`;
const maps = `[${map('d0, d2')}, ${map('d2, d1')}, ${map('d0, d1')}]`;
const iterators = 'iterator_types = ["parallel", "parallel", "reduction"]';
const inFunction = (operation: string, name = '@main', before = ''): string =>
  `${before}func.func ${name}(%a: ${a}, %b: ${b}, %c: ${c}) { ${operation}\n return }\n`;

interface Trap {
  readonly what: string;
  readonly text: string;
  /** Number of operations; null if the compiler rejects the text. */
  readonly operations: number | null;
  /** Number of operations that the parser finds in a rejected text. */
  readonly found?: number;
  readonly splitInputFile?: true;
}

const traps: readonly Trap[] = [
  {
    what: '`-` is part of a name, so that `!T->!T` starts with `!T-`',
    text: inFunction(`%0 = ${matmul}`, '@main', `!T = ${c}\nfunc.func private @f(!T->!T)\n`),
    operations: null,
    found: 1,
  },
  {
    what: '`!T ->!T` does not',
    text: inFunction(`%0 = ${matmul}`, '@main', `!T = ${c}\nfunc.func private @f(!T) ->!T\n`),
    operations: 1,
  },
  {
    what: '`-` is part of a value name',
    text: inFunction(`%x-y = ${matmul} %x = linalg.matmul ${lists.replace('%c', '%x-y')}->${c}`),
    operations: 2,
  },
  {
    what: '`0x8` in a shape is zero by eight',
    text: `func.func @f(%a: tensor<0x8xf32>, %b: tensor<8x0xf32>, %c: tensor<0x0xf32>) {
      %0 = linalg.matmul ins(%a, %b : tensor<0x8xf32>, tensor<8x0xf32>) outs(%c : tensor<0x0xf32>) -> tensor<0x0xf32> return }`,
    operations: 1,
  },
  {
    what: '`->` closes no angle bracket',
    text: inFunction(`%0 = ${matmul.replace('ins', `{a = ${map('d0')}, b = (tuple<i1>) -> tuple<i2>} ins`)}`),
    operations: 1,
  },
  { what: 'a quoted symbol may hold `{`', text: inFunction(`%0 = ${matmul}`, '@"f{"'), operations: 1 },
  { what: 'a quoted symbol may hold `//`', text: inFunction(`%0 = ${matmul}`, '@"f // }"'), operations: 1 },
  {
    what: 'blanks may stand inside of a shape',
    text: inFunction(`%0 = ${matmul.replace(`: ${a}`, ': tensor < 3 x 5 x\tf32 >')}`),
    operations: 1,
  },
  {
    what: 'comments may stand inside of a shape',
    text: inFunction(`%0 = ${matmul.replace(`: ${a}`, ': tensor<3// x>\n x // {\n 5 x f32//\n>')}`),
    operations: 1,
  },
  {
    what: 'a byte order mark is an error',
    text: `\uFEFF${inFunction(`%0 = ${matmul}`)}`,
    operations: null,
    found: 1,
  },
  {
    what: 'an alias is defined at the top level',
    text: inFunction(`%0 = linalg.matmul indexing_maps = #m ${lists} -> ${c}`, '@main', `#m = ${maps}\n`),
    operations: 1,
  },
  {
    what: 'and nowhere else',
    text: inFunction(`#m = ${maps} %0 = linalg.matmul indexing_maps = #m ${lists} -> ${c}`),
    operations: null,
  },
  {
    what: 'an alias is defined before its use',
    text: `${inFunction(`%0 = linalg.matmul indexing_maps = #m ${lists} -> ${c}`)}#m = ${maps}\n`,
    operations: null,
  },
  {
    what: 'the name of an alias has no dot',
    text: inFunction(`%0 = linalg.matmul indexing_maps = #m.m ${lists} -> ${c}`, '@main', `#m.m = ${maps}\n`),
    operations: null,
  },
  {
    what: 'an alias is known in its own chunk only',
    text: `#m = ${maps}\n// -----\n${inFunction(`%0 = linalg.matmul indexing_maps = #m ${lists} -> ${c}`)}`,
    operations: null,
    splitInputFile: true,
  },
  {
    what: 'each chunk has aliases of its own',
    text: [maps, `[${map('d2, d0')}, ${map('d2, d1')}, ${map('d0, d1')}]`]
      .map(
        (value) =>
          `#m = ${value}\nfunc.func @f(%a: tensor<5x5xf32>, %b: tensor<5x5xf32>, %c: tensor<5x5xf32>) {
          %0 = linalg.matmul indexing_maps = #m ins(%a, %b : tensor<5x5xf32>, tensor<5x5xf32>) outs(%c : tensor<5x5xf32>) -> tensor<5x5xf32> return }`,
      )
      .join('\n// -----\n'),
    operations: 2,
    splitInputFile: true,
  },
  {
    what: 'maps, properties and dictionaries have their order before the operands',
    text: inFunction(
      `%0 = linalg.matmul indexing_maps = ${maps} <{cast = #linalg.type_fn<cast_signed>}> {a} ${lists} {b} -> ${c}`,
    ),
    operations: 1,
  },
  {
    what: 'the types of results may be missing',
    text: inFunction(`linalg.matmul ${lists.replaceAll('tensor', 'memref')}`).replaceAll('tensor', 'memref'),
    operations: 1,
  },
  {
    what: 'a linalg.generic has its attributes after the operands, behind a word',
    text: inFunction(
      `%0 = linalg.generic {indexing_maps = ${maps}, ${iterators}} ${lists} attrs = {a} ${body} -> ${c}`,
    ),
    operations: 1,
  },
  {
    what: 'the quoted form has properties, regions, attributes, in this order',
    text: inFunction(
      `%0 = "linalg.matmul"(%a, %b, %c) <{operandSegmentSizes = array<i32: 2, 1>}> (${body}) {a} : (${a}, ${b}, ${c}) -> ${c}`,
    ),
    operations: 1,
  },
  {
    what: 'a comma before a closing brace is an error',
    text: inFunction(`%0 = linalg.matmul {a,} ${lists} -> ${c}`),
    operations: null,
  },
  ...['matmul_transpose_a', 'matmul_transpose_b'].map((name) => ({
    what: `linalg.${name} is no more, but was`,
    text: inFunction(`%0 = linalg.${name} ${lists} -> ${c}`),
    operations: null,
    found: 1,
  })),
  {
    what: 'linalg.batch_matmul_transpose_b is no more, but was',
    text: inFunction(`%0 = linalg.batch_matmul_transpose_b ${lists} -> ${c}`),
    operations: null,
    found: 1,
  },
  {
    what: 'transposed operands are those of maps',
    text: `func.func @f(%a: tensor<3x5xf32>, %b: tensor<7x5xf32>, %c: ${c}) {
      %0 = linalg.matmul indexing_maps = ${maps.replace('d2, d1', 'd1, d2')} ins(%a, %b : tensor<3x5xf32>, tensor<7x5xf32>) outs(%c : ${c}) -> ${c} return }`,
    operations: 1,
  },
  { what: 'comments are no operations', text: inFunction(`// %0 = ${matmul}`), operations: 0 },
  {
    what: 'names in lists are no operations, and bodies of transform sequences have patterns only',
    text: `module attributes {transform.with_named_sequence} {
      transform.named_sequence @m(%x: !transform.any_op {transform.readonly}) {
        %0 = transform.structured.match ops{["linalg.matmul"]} in %x : (!transform.any_op) -> !transform.any_op
        transform.yield } }`,
    operations: 0,
  },
  {
    what: 'what pdl names is no operation',
    text: `pdl.pattern @p : benefit(1) { %t = pdl.type %x = pdl.operand : %t
      %0 = pdl.operation "linalg.matmul" (%x, %x : !pdl.value, !pdl.value) -> (%t : !pdl.type)
      pdl.rewrite %0 with "rewriter" }`,
    operations: 0,
  },
];

const names = rows.map(({ name }) => name);

describe.each(traps)('$what', ({ text, operations, found, splitInputFile = false }) => {
  test('for the parser', () => {
    const result = parseText(text, splitInputFile);
    expect(result.operations).toHaveLength(operations ?? found ?? 0);
    if (operations !== null) expect(result.problems).toEqual([]);
  });

  test.skipIf(ireeOpt === null)('for the compiler', { tags: ['compiler'] }, () => {
    const flags = ['--mlir-print-op-generic', ...(splitInputFile ? ['--split-input-file'] : [])];
    if (operations === null) {
      expect(() => reprint(text, ...flags)).toThrow(/error: /);
      return;
    }
    const printed = readGenericPrint(reprint(text, ...flags), names);
    const parsed = parseText(text, splitInputFile).operations;
    expect(parsed.map((operation) => [operation.name, ...types(operation)])).toEqual(
      printed.map((operation) => [operation.name, ...operation.types]),
    );
  });
});

test('a recognised operation that the compiler rejects gives a problem', () => {
  const silent = traps.filter(
    ({ text, operations, found, splitInputFile = false }) =>
      operations === null && found === undefined && parseText(text, splitInputFile).problems.length === 0,
  );
  expect(silent.map(({ what }) => what)).toEqual([]);
});

test.skipIf(ireeOpt === null)(
  'attributes are inserted inline: an alias is not known in every chunk',
  { tags: ['compiler'] },
  () => {
    const text = `#x = [1]\n${inFunction(`%0 = ${matmul}`)}// -----\n${inFunction(`%0 = ${matmul}`)}`;
    const insert = (attribute: string): string => {
      const { operations } = parseText(text, true);
      const insertions = operations.map((operation) => insertionFor(operation, attribute));
      return new TextDecoder().decode(applyInsertions(bytes(text), insertions));
    };
    const print = (edited: string): string =>
      reprint(edited, '--split-input-file', '--mlir-print-op-generic');
    expect(print(insert('a.x = [1]')).match(/a\.x = \[1\]/g)).toHaveLength(2);
    expect(() => print(insert('a.x = #x'))).toThrow(/undefined symbol alias id 'x'/);
  },
);
