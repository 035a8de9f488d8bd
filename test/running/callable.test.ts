import { expect, test } from 'vitest';
import { fittingTogether } from '../../src/running/callable.ts';

test('the inputs of a program have a limit together, within which as many functions as possible are called', () => {
  const functions = [600, 900, 1, 600].map((bytes) => ({ bytes }));
  const fitting = (most: number) => {
    const fits = fittingTogether(functions, ({ bytes }) => bytes, most);
    return functions.filter((one) => fits.has(one)).map(({ bytes }) => bytes);
  };
  expect(fitting(2101)).toEqual([600, 900, 1, 600]);
  expect(fitting(2100)).toEqual([600, 1, 600]);
  expect(fitting(601)).toEqual([600, 1]);
  expect(fitting(0)).toEqual([]);
});
