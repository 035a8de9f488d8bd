import { expect, test } from 'vitest';
import { extentsIn } from '../../src/input/dispatch-extents.ts';
import { evaluated, isExtent, resultsOfMap, type Extent } from '../../src/input/extent.ts';

/** The function of a program after the phase `flow`, in which one dispatch has the extent `%n`. */
const flow = (...lines: readonly string[]) => `#map = affine_map<()[s0, s1] -> ((s0 * 4 + s1) floordiv 2)>
module {
  util.func public @main$async(%arg0: !hal.buffer_view loc("a: b"), %arg1: !hal.fence) -> !hal.buffer_view {
    %0 = hal.buffer_view.dim<%arg0 : !hal.buffer_view>[0] : index loc(#loc3)
    %1 = hal.buffer_view.dim<%arg0 : !hal.buffer_view>[1] : index
    %c3 = arith.constant 3 : index
${lines.map((line) => `    ${line}\n`).join('')}    %9 = flow.dispatch @"main d"::@d[%n](%0, %n) : (tensor<?x8xf32>{%0}, index) -> tensor<?x8xf32>{%n} loc("x")
    util.return %9 : !hal.buffer_view
  } loc(#loc)
}
`;

const WORK = {
  kind: 'dispatch',
  dimensions: [{ kind: 'm', size: 0, sizes: [] }],
} as unknown as Parameters<ReturnType<typeof extentsIn>>[2]['workload'];

/** The sizes of the dispatch in a call with 5 x 7 elements; null if they are not known. */
function sizesIn(text: string): (number | null)[] | null {
  const found = extentsIn({ text, executables: [] })('main d', null, { workload: WORK, loops: [0] });
  expect(found === null || found.every(({ function: name, kind }) => name === 'main' && kind === 'm')).toBe(
    true,
  );
  const sizes: Readonly<Record<string, number>> = { 'arg0.0': 5, 'arg0.1': 7 };
  return found && found[0]!.extents.map((extent) => evaluated(extent, (place) => sizes[place] ?? null));
}

test.each<[string, string[], (number | null)[] | null]>([
  ['an argument', ['%n = arith.addi %1, %c3 : index'], [5, 10]],
  ['a product', ['%n = arith.muli %0, %1 overflow<nsw> : index loc("m")'], [5, 35]],
  ['a division that rounds up', ['%n = arith.ceildivui %1, %c3 : index'], [5, 3]],
  ['a remainder', ['%n = arith.remui %1, %c3 : index'], [5, 1]],
  [
    'a conversion',
    ['%2 = arith.index_castui %1 : index to i64', '%n = arith.index_castui %2 : i64 to index'],
    [5, 7],
  ],
  ['an affine map by its alias', ['%n = affine.apply #map()[%0, %1]'], [5, 13]],
  ['an affine map', ['%n = affine.apply affine_map<(d0) -> (d0 * 2)>(%1)'], [5, 14]],
  ['an assumption', ['%n = util.assume.int %1<umin = 1, umax = 9, udiv = 1> : index'], [5, 7]],
  [
    'assumptions about several values',
    [
      '%2:2 = util.assume.int ',
      '    %0<umin = 1>, ',
      '    %1[<umin = 1>, <umin = 2>]',
      '  : index, index',
      '%n = arith.addi %2#0, %2#1 : index',
    ],
    [5, 12],
  ],
  ['a value of the program', ['%n = util.global.load @n : index'], null],
])('the sizes of a dispatch: %s', (_, lines, expected) => {
  expect(sizesIn(flow(...lines))).toEqual(expected);
});

test('a dispatch of an initializer or of another function has no known sizes', () => {
  const text = flow('%n = arith.muli %0, %1 : index').replace(
    'util.func public @main$async',
    'util.initializer',
  );
  expect(sizesIn(text)).toBe(null);
});

test.each<[string, readonly Extent[] | undefined]>([
  ['affine_map<()[s0, s1] -> (s0, s1 * 2 + 1, 64)>', ['s0', ['+', ['*', 's1', 2], 1], 64]],
  ['affine_map<(d0)[s0] -> (-d0 + s0)>', [['+', ['-', 0, 'd0'], 's0']]],
  ['affine_map<()[s0] -> ((s0 + 15) floordiv 16)>', [['floordiv', ['+', 's0', 15], 16]]],
  ['affine_map<()[s0] -> (s0 ceildiv 4 mod 2)>', [['mod', ['ceildiv', 's0', 4], 2]]],
  ['affine_map<()[s0] -> ((s0 + 15>', undefined],
  ['affine_map<()[s0] -> (s0 +)>', undefined],
  ['affine_map<()[s0] -> (s0 s0)>', undefined],
  [`affine_map<()[s0] -> (${'('.repeat(1e5)}s0)>`, undefined],
  ['affine_map<(d0, d1) -> ()>', []],
])('%.60s', (map, expected) => {
  expect(resultsOfMap(map)?.results).toEqual(expected);
  expect(resultsOfMap(map)?.results.every((one) => isExtent(one)) ?? true).toBe(true);
});

test('only expressions of known operators are extents', () => {
  const deep = Array.from({ length: 30 }).reduce<unknown>((inner) => ['+', inner, 1], 1);
  for (const value of [null, 1.5, ['+', 1], ['eval', 1, 1], ['+', {}, 1], deep])
    expect(isExtent(value)).toBe(false);
});
