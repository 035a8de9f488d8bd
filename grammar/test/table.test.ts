import { describe, expect, test } from 'vitest';
import table from '../operations.json' with { type: 'json' };
import { rows } from '../src/table.ts';
import { customForm, examples, only, quotedForm, types } from './fixtures.ts';

test('every row has an example, and every example a row', () => {
  expect(Object.keys(examples).toSorted()).toEqual(Object.keys(table.operations).toSorted());
});

describe.each(rows.map((row) => [row.name, row] as const))('%s', (name, row) => {
  test('has words that the parser knows', () => {
    for (const role of row.roles) expect(['lhs', 'rhs', 'accumulator', 'input', 'output']).toContain(role);
    for (const type of row.iteratorTypes ?? []) expect(['parallel', 'reduction', 'window']).toContain(type);
    expect(['optional', 'required', 'never']).toContain(row.mapsKeyword);
    expect(['named', 'region']).toContain(row.body);
    expect(['before-ins', 'attrs-after-outs']).toContain(row.dictionary);
  });

  test('has default maps that fit its operands and iterators', () => {
    if (row.defaultMaps === null) return;
    expect(row.defaultMaps).toHaveLength(row.roles.length);
    for (const map of row.defaultMaps) {
      expect(map.dimensions).toBe(row.iteratorTypes?.length);
      for (const result of map.results) expect(result).toBeLessThan(map.dimensions);
    }
  });

  test.each([
    ['custom', customForm(name)],
    ['quoted', quotedForm(name)],
  ] as const)('is found in its %s form', (form, text) => {
    const operation = only(text);
    const { operands } = examples[name]!;
    expect(operation).toMatchObject({ name, form, symbol: 'main', chunk: 0, body: 'multiply-add' });
    expect(types(operation)).toEqual(
      operands.map((shape) => `tensor<${shape === '' ? '' : `${shape}x`}f32>`),
    );
    expect(operation.operands.map(({ role }) => role)).toEqual(row.roles);
    expect(operation.operands.map(({ value }) => value)).toEqual(['%a', '%b', '%c']);
    // The maps must agree with the shapes: one size per dimension.
    const sizes = new Map<number, number>();
    operation.operands.forEach(({ type }, index) => {
      const shape = type.kind === 'opaque' ? null : type.shape;
      operation.indexingMaps[index]!.results.forEach((dimension, axis) => {
        expect(sizes.get(dimension!) ?? shape![axis]).toBe(shape![axis]);
        sizes.set(dimension!, shape![axis]!);
      });
    });
    expect(sizes.size).toBe(operation.iteratorTypes.length);
    expect(text.slice(operation.start, operation.end)).toMatch(
      form === 'custom' ? /^linalg\.[^]*-> tensor<.*>$/ : /^"linalg\.[^]*-> tensor<.*>$/,
    );
  });
});
