import { expect, test } from 'vitest';
import { callableOf, fittingTogether } from '../../src/running/callable.ts';
import { limitsWithin } from '../../src/running/limits.ts';
import { parseOwnData } from '../../src/settings/own-data.ts';
import { commandOf, inputOf, siteOf, surroundingsOf } from '../support/inspected.ts';

/** A function with a large argument and a large parameter. */
const PROGRAM = `
util.global private @w = #flow.parameter.named<"model"::"w"> : tensor<1024x1024xf32>
func.func @main(%a: tensor<1024x1024xf32>, %b: tensor<4xi32>) -> tensor<1024x1024xf32> {
  return %a : tensor<1024x1024xf32>
}`;

function callable(data: string, mostInput: number, text = PROGRAM) {
  const { settings, ...surroundings } = surroundingsOf();
  const own = { ...settings, data: parseOwnData(data)!, mostInput };
  return callableOf(
    {
      command: commandOf('in.mlir'),
      inspected: { input: inputOf(text), site: siteOf() },
      surroundings: { ...surroundings, settings: own },
      limits: limitsWithin(own, false),
    },
    () => Promise.reject(new Error('the text has the signatures')),
  );
}

const ZEROS = 'arg0=1024x1024xf32';

test('a reason for data that are too large names their bytes, the limit and the setting', async () => {
  const { called, skipped } = await callable('', 6 * 2 ** 20);
  expect(called).toEqual([]);
  expect(skipped).toMatchObject([
    {
      code: 'not-callable',
      reason:
        'it takes 8 MiB of generated inputs and parameters, and the limit is 6 MiB (--iree-tuned-max-input)',
    },
  ]);
  expect((await callable('', 9 * 2 ** 20)).skipped).toEqual([]);
});

test("the user's inputs and parameter files are not generated, and have no limit", async () => {
  const { called, given, parameters } = await callable(ZEROS, 6 * 2 ** 20);
  expect(called.map((one) => [...given.get(one)!])).toEqual([[[0, '1024x1024xf32']]]);
  expect(parameters).toHaveLength(1);
  const own = await callable(`${ZEROS} parameters=model=@${import.meta.filename}`, 2 ** 10);
  expect(own.called).toHaveLength(1);
  expect(own.parameters).toEqual([]);
});

test('a parameter of a type that is not generated needs a file', async () => {
  const packed = PROGRAM.replace('"w"> : tensor<1024x1024xf32>', '"w"> : tensor<1024x1024xi4>');
  const { skipped } = await callable('', 2 ** 30, packed);
  expect(skipped[0]!.reason).toBe(
    'parameters of type i4 cannot be generated: name a file with --iree-tuned-input=parameters=model=@FILE',
  );
  const own = await callable(`parameters=model=@${import.meta.filename}`, 2 ** 30, packed);
  expect(own.skipped).toEqual([]);
});

test('no function is called on other data than those that the user names', async () => {
  await expect(callable('arg2=1', 2 ** 30)).rejects.toMatchObject({
    why: {
      code: 'data-unusable',
      reason: 'the setting input cannot be used: arg2: @main has the arguments arg0 to arg1',
    },
  });
});

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
