import { expect, test } from 'vitest';
import { groupsOf, groupsText, type Alone } from '../../src/running/compare-alone.ts';

/** A function of one operand and one result of `size` elements each. */
const alone = (name: string, size: number): Alone => {
  const tensor = { shape: [size], elementType: 'f32' };
  return { name, arguments: [tensor], results: [tensor] };
};

const namesOf = (functions: readonly Alone[]) =>
  groupsOf(functions).map(({ parts }) => parts.map(({ name }) => name));

test.each<[string, number[], string[][]]>([
  [
    'functions of one size fill two groups, which run at once',
    [8, 8, 8, 8],
    [
      ['f0', 'f1'],
      ['f2', 'f3'],
    ],
  ],
  ['a function as large as the others together is a group', [24, 8, 8, 8], [['f0'], ['f1', 'f2', 'f3']]],
  [
    'a function beyond the size of a group has its own',
    [2 ** 26, 2 ** 26, 2 ** 26],
    [['f0'], ['f1'], ['f2']],
  ],
  ['no function has no group', [], []],
])('%s', (_, sizes, groups) => {
  expect(namesOf(sizes.map((size, i) => alone(`f${i}`, size)))).toEqual(groups);
});

test('a group passes each function its own arguments and returns all results in order', () => {
  const [group] = groupsOf([alone('a', 2), alone('b', 2), alone('c', 4)]);
  expect(group!.parts.map(({ name }) => name)).toEqual(['a', 'b']);
  const text = groupsText([group!], 'func');
  expect(text).toContain('func.func public @checks0(%arg0: tensor<2xf32>, %arg1: tensor<2xf32>)');
  expect(text).toContain('func.call @a(%arg0)');
  expect(text).toContain('func.call @b(%arg1)');
  expect(text).toContain('func.return %0#0, %1#0');
});

test('groups of dispatches pass buffer views', () => {
  const text = groupsText(groupsOf([alone('a', 2)]), 'util');
  expect(text).toContain('util.func public @checks0(%arg0: !hal.buffer_view) -> (!hal.buffer_view)');
});
