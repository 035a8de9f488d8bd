import { expect, test } from 'vitest';
import type { ProgramFunction } from '../../src/input/signature.ts';
import { fittingTogether } from '../../src/running/callable.ts';

const taking = (mebibytes: number) =>
  ({
    name: `f${mebibytes}`,
    arguments: [{ shape: [mebibytes, 2 ** 18], elementType: 'f32' }],
  }) as unknown as ProgramFunction;

test('the inputs of a program have a limit together, within which as many functions as possible are called', () => {
  const functions = [taking(600), taking(900), taking(1), taking(600)];
  const fitting = (mebibytes: number) => {
    const fits = fittingTogether(functions, mebibytes * 2 ** 20);
    return functions.filter((one) => fits.has(one)).map(({ name }) => name);
  };
  expect(fitting(2101)).toEqual(['f600', 'f900', 'f1', 'f600']);
  expect(fitting(2100)).toEqual(['f600', 'f1', 'f600']);
  expect(fitting(601)).toEqual(['f600', 'f1']);
  expect(fitting(0)).toEqual([]);
});
