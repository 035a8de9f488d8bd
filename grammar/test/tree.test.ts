import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { attributeValue, tokens, tree, typeText, type TreeNode } from '../src/main.ts';
import { bytes, customForm, quotedForm } from './fixtures.ts';
import { ireeOpt, reprint } from './oracle.ts';

/** One line for each node, indented by its depth. */
function outline(text: string, nodes: readonly TreeNode[] = tree(bytes(text)), depth = 0): string[] {
  const indent = '  '.repeat(depth);
  return nodes.flatMap((node) => {
    if (node.kind === 'opaque')
      return [
        `${indent}: ${text.slice(node.start, node.end).replace(/\s+/g, ' ')}`,
        ...outline(text, node.nodes, depth + 1),
      ];
    const { name, results, operands, successors, attributes, operandTypes, resultTypes, location } = node;
    const parts = [
      ...[results.join(), name, `(${operands.join()})`, ...successors, ...attributes.map((one) => one.name)],
      `: ${operandTypes.map(typeText).join()} -> ${resultTypes.map(typeText).join()}`,
      ...(location === null ? [] : [`loc ${location}`]),
    ];
    const blocks = node.regions.flatMap((region, index) =>
      region.flatMap(({ label, arguments: values, nodes: inside }) => [
        `${indent} ${index}${label ?? ''}(${values.map(({ value, type }) => `${value}: ${typeText(type)}`).join()})`,
        ...outline(text, inside, depth + 1),
      ]),
    );
    return [indent + parts.filter((part) => part !== '').join(' '), ...blocks];
  });
}

test('operations of unknown dialects have results, operands, attributes, regions, blocks and locations', () => {
  const text = `!t = f32
    %0:2, %c = "x.op"(%a, %b#1)[^b1, ^b2] <{p = 1}> ({
      "x.first"() : () -> ()
    ^b1(%x: !t loc("a":1:2), %y: tensor<2xi8>):
      "x.br"(%x)[^b2] : (f32) -> ()
    ^b2: "x.end"() {q} : () -> ()
    }, {}) {r = "}"} : (i8, !x<y // z>) -> (i8, i1, f32) loc(fused["m.py":3:4])`;
  expect(outline(text)).toEqual([
    ': !t = f32',
    '%0#0,%0#1,%c x.op (%a,%b#1) ^b1 ^b2 p r : i8,!x<y // z> -> i8,i1,f32 loc fused["m.py":3:4]',
    ' 0()',
    '  x.first () :  -> ',
    ' 0^b1(%x: f32,%y: tensor<2xi8>)',
    '  x.br (%x) ^b2 : f32 -> ',
    ' 0^b2()',
    '  x.end () q :  -> ',
  ]);
});

test('text in other forms is opaque, with the operations in its braces as nodes', () => {
  const text = `module { func.func @f(%a: i8) { %0 = x.y %a, %b "x.z"(%0) : (i8) -> ()
    "x.w"() : () -> () scf.for { %1 = "x.v"() : () -> i8 } pdl.operation "x.u"(%1 : i8) loc("a"("b":1:2)) } }`;
  expect(outline(text)).toEqual([
    `: ${text.replace(/\s+/g, ' ')}`,
    '  : func.func @f(%a: i8) { %0 = x.y %a, %b "x.z"(%0) : (i8) -> () "x.w"() : () -> () scf.for { %1 = "x.v"() : () -> i8 } pdl.operation "x.u"(%1 : i8) loc("a"("b":1:2)) }',
    '    : %0 = x.y %a, %b',
    '    x.z (%0) : i8 -> ',
    '    x.w () :  -> ',
    '    : scf.for { %1 = "x.v"() : () -> i8 } pdl.operation "x.u"(%1 : i8) loc("a"("b":1:2))',
    '      %1 x.v () :  -> i8',
  ]);
});

test.each([
  ['no types', '"x.y"()'],
  ['more types than operands', '"x.y"(%a) : (i8, i8) -> ()'],
  ['a region without an end', '"x.y"() ({ "x.z"() : () -> ()'],
  ['something else behind its regions', '"x.y"() ({ "x.z"() : () -> () } x'],
  ['an open location', '"x.y"() : () -> () loc('],
  ['an open dictionary', '"x.y"() {a = : () -> ()'],
])('an operation with %s is opaque', (_, text) => {
  const [node, ...more] = tree(bytes(text));
  expect(more).toEqual([]);
  expect(node).toMatchObject({ kind: 'opaque', start: 0, end: text.length });
});

test('nodes nest and are in order, and no input throws', () => {
  const words =
    '%a %0:2 = , "x.y" ( ) { } [ ] < > : -> i8 ^b ^b0: !x<y> #a.b<{//}> {-# #-} loc "x"() x.y\n'.split(' ');
  const check = (nodes: readonly TreeNode[], from: number, to: number): void => {
    let last = from;
    for (const node of nodes) {
      expect(node.start).toBeGreaterThanOrEqual(last);
      expect(node.end).toBeLessThanOrEqual(to);
      const inside =
        node.kind === 'opaque' ? node.nodes : node.regions.flat().flatMap((block) => block.nodes);
      check(inside, node.start, node.end);
      last = node.end;
    }
  };
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...words), { maxLength: 40 }), (list) => {
      const input = bytes(list.join(' '));
      check(tree(input), 0, input.length);
    }),
    { numRuns: 500 },
  );
});

describe.skipIf(ireeOpt === null)(
  'of what iree-opt prints in the generic form',
  { tags: ['compiler'] },
  () => {
    test.each(['linalg.matmul', 'linalg.generic', 'stablehlo.dot_general', 'onnx.Gemm', 'tosa.conv2d'])(
      '%s',
      (name) => {
        const text = reprint(customForm(name), '--mlir-print-op-generic', '--mlir-print-local-scope');
        const inside = (nodes: readonly TreeNode[]): string[] =>
          nodes.flatMap((node) => {
            expect(node.kind).toBe('operation');
            return node.kind === 'operation'
              ? [node.name, ...node.regions.flat().flatMap((block) => inside(block.nodes))]
              : [];
          });
        const printed = [...text.matchAll(/^ *(?:%[\w:, %]+ = )?"([\w.]+)"\(/gm)].map(([, one]) => one!);
        expect(inside(tree(bytes(text)))).toEqual(printed);
      },
    );
  },
);

test('tokens are in order, with only blanks and comments between them', () => {
  const text = `${customForm('linalg.matmul')}// x\n${quotedForm('linalg.matmul')} %a #1 @"b c" !d #e ^f -> {-# #-} 0x1 "x`;
  const found = [...tokens(bytes(text))];
  let last = 0;
  for (const { start, end } of found) {
    expect(text.slice(last, start)).toMatch(/^(?:\s|\/\/.*\n)*$/);
    last = end;
  }
  expect(found.slice(-10).map(({ kind, start, end }) => [kind, text.slice(start, end)])).toEqual(
    [
      ...[
        ['value', '%a #1'],
        ['symbol', '@"b c"'],
        ['type', '!d'],
        ['attribute', '#e'],
        ['block', '^f'],
      ],
      ...[
        ['punctuation', '->'],
        ['metadata-begin', '{-#'],
        ['metadata-end', '#-}'],
        ['number', '0x1'],
      ],
      ['broken-string', '"x'],
    ].slice(-10),
  );
});

describe('the value of an attribute', () => {
  const read = (text: string) => attributeValue(bytes(`a${text}`), { start: 0, end: text.length + 1 });
  const integer = (value: bigint, type: string | null = null) => ({ kind: 'integer', value, type });
  test.each([
    ['', { kind: 'unit' }],
    [' = unit', { kind: 'unit' }],
    [' = true', { kind: 'boolean', value: true }],
    [' = -12 : i64', integer(-12n, 'i64')],
    [' = 18446744073709551615 : ui64', integer(18446744073709551615n, 'ui64')],
    [' = 0x1F', integer(31n)],
    [' = 1.5e-3 : f16', { kind: 'float', value: 0.0015, type: 'f16' }],
    [' = - 2. ', { kind: 'opaque', text: '- 2. ' }],
    [' = 0x7FC00000 : f32', { kind: 'opaque', text: '0x7FC00000 : f32' }],
    [' = "a\\22\\n"', { kind: 'string', value: 'a"\n' }],
    [' = "a" : !b', { kind: 'opaque', text: '"a" : !b' }],
    [
      ' = [1, "x", []]',
      { kind: 'array', values: [integer(1n), { kind: 'string', value: 'x' }, { kind: 'array', values: [] }] },
    ],
    [' = array<i32: 1, -2>', { kind: 'array', values: [integer(1n, 'i32'), integer(-2n, 'i32')] }],
    [' = array<i1: true>', { kind: 'array', values: [{ kind: 'boolean', value: true }] }],
    [' = array<i64>', { kind: 'array', values: [] }],
    [
      ' = {b, "c d" = 1 : i8, e = {}}',
      {
        kind: 'dictionary',
        entries: new Map<string, unknown>([
          ['b', { kind: 'unit' }],
          ['c d', integer(1n, 'i8')],
          ['e', { kind: 'dictionary', entries: new Map() }],
        ]),
      },
    ],
    [' = [1, ', { kind: 'opaque', text: '[1, ' }],
    [' = {1}', { kind: 'opaque', text: '{1}' }],
    [' = #a.b<//>', { kind: 'opaque', text: '#a.b<//>' }],
    [' = dense<1.0> : tensor<2xf32>', { kind: 'opaque', text: 'dense<1.0> : tensor<2xf32>' }],
  ])('%j', (text, value) => {
    expect(read(text)).toEqual(value);
  });

  test('is opaque for lists that nest too deep', () => {
    expect(JSON.stringify(read(` = ${'['.repeat(50)}1${']'.repeat(50)}`))).toContain('opaque');
  });
});
