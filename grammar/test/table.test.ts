import { describe, expect, test } from 'vitest';
import table from '../operations.json' with { type: 'json' };
import { typeText } from '../src/main.ts';
import { rows } from '../src/table.ts';
import { examples } from './examples.ts';
import { customForm, only, quotedForm, resultsOf, types, typeOf, valuesOf } from './fixtures.ts';

test('every row has an example, and every example a row', () => {
  const names = [...Object.keys(table.operations), ...table.families.flatMap((family) => family.names)];
  expect(Object.keys(examples).toSorted()).toEqual(names.toSorted());
});

describe.each(rows.map((row) => [row.name, row] as const))('%s', (name, row) => {
  test('has only words that the parser knows', () => {
    for (const role of row.roles) expect(['lhs', 'rhs', 'accumulator', 'input', 'output']).toContain(role);
    for (const type of row.iteratorTypes ?? []) expect(['parallel', 'reduction', 'window']).toContain(type);
    expect(['optional', 'required', 'never']).toContain(row.mapsKeyword);
    expect(['contraction', 'convolution', 'pooling', 'to-normalise']).toContain(row.kind);
    expect(['named', 'region', 'other']).toContain(row.body);
    expect(['before-ins', 'attrs-after-outs', 'before-types', 'operator']).toContain(row.dictionary);
    expect(row.optional).toBeLessThan(row.roles.length);
    expect([null, 'input']).toContain(row.rest);
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
    const example = examples[name]!;
    const computes = row.body === 'other' ? 'other' : 'multiply-add';
    // An operation without a custom form is quoted in both.
    const written = example.onlyQuoted === true ? 'quoted' : form;
    expect(operation).toMatchObject({
      name,
      form: written,
      kind: row.kind,
      symbol: 'main',
      chunk: 0,
      body: computes,
    });
    expect(types(operation)).toEqual(example.operands.map(typeOf));
    const results = resultsOf(example);
    expect(operation.results.map(typeText)).toEqual(results);
    if (row.kind !== 'contraction') expect(operation.indexingMaps).toEqual([]);
    expect(operation.operands.map(({ role }) => role)).toEqual(
      example.operands.map((_, index) => row.roles[index] ?? row.rest),
    );
    expect(operation.operands.map(({ value }) => value)).toEqual(valuesOf(example));
    // The maps must agree with the shapes: one size per dimension.
    const sizes = new Map<number, number>();
    operation.operands.forEach(({ type }, index) => {
      const shape = type.kind === 'opaque' ? null : type.shape;
      operation.indexingMaps[index]?.results.forEach((dimension, axis) => {
        expect(sizes.get(dimension!) ?? shape![axis]).toBe(shape![axis]);
        sizes.set(dimension!, shape![axis]!);
      });
    });
    expect(sizes.size).toBe(operation.iteratorTypes.length);
    const source = text.slice(operation.start, operation.end);
    const word = row.dictionary === 'operator' ? 'torch.operator' : name;
    expect(source.startsWith(written === 'custom' ? word : `"${word}"`)).toBe(true);
    expect(source.slice(source.lastIndexOf('-> ')).replace(/[()]/g, '')).toBe(`-> ${results.join(', ')}`);
  });
});
