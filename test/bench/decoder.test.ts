// The parts of `bench:decoder` that need neither a model nor a network.
import { expect, describe, test } from 'vitest';
import { modelsFor, tokensOf } from '../../bench/decoder/models.ts';
import { readOptions } from '../../bench/decoder/options.ts';
import { table } from '../../bench/decoder/table.ts';
import { UsageError } from '../../bench/shared/arguments.ts';
import type { Result } from '../../bench/shared/peers/measure.ts';

const namesFor = (...asked: string[]) => modelsFor(asked).map(({ name }) => name);

describe('the models', () => {
  test('are prefill and decode in f32 by default', () => {
    expect(namesFor()).toEqual([
      ...['f32:prefill-32', 'f32:prefill-128', 'f32:prefill-512'],
      ...['f32:decode-1', 'f32:decode-4', 'f32:decode-16'],
    ]);
  });

  test('with dynamic sizes are compared with peers in f32', () => {
    const [dynamic] = modelsFor(['dynamic:decode-4']);
    expect(dynamic).toMatchObject({ type: 'f32', isDynamic: true, phase: 'decode', size: 4 });
  });

  test('are listed after an unknown name', () => {
    expect(() => namesFor('decode-2')).toThrow(UsageError);
    expect(() => namesFor('decode-2')).toThrow(/give f32, f16, int8, int4, dynamic, f32:prefill-32, /);
  });

  test('compute as many tokens as there are positions or sequences', () => {
    expect([tokensOf('f16:prefill-512'), tokensOf('f16:decode-16')]).toEqual([512, 16]);
  });
});

describe('the command line', () => {
  test.each([
    [['--heads', '6'], '--heads 6: it takes a multiple of 4'],
    [['--width', '772'], '--width 772: it takes a multiple of 24'],
    [['--tiny', '--width', '24'], '--width 24: it takes a multiple of 16'],
    [['--resume'], '--resume: it needs --json FILE'],
  ])('refuses %j', (argv, message) => {
    expect(() => readOptions(argv)).toThrow(UsageError);
    expect(() => readOptions(argv)).toThrow(message);
  });
});

test('the table has tokens a second, and the share of equal tokens', () => {
  const gain = { ratio: 2, low: 1.9, high: 2.1, seconds: [0.4, 0.2] as const };
  const result: Result = {
    ...{ model: 'f32:decode-4', state: 'compiled by both', reason: null, sameCode: false, best: 'O3' },
    ...{ verdict: { equal: true, maxError: 0, compared: null, reason: null, timing: null } },
    ...{ compileSeconds: { stock: 5, tuned: 65 }, explanation: null, variants: [] },
    seconds: { onnxRuntime: 0.1, stock: 0.4, best: 0.4, tuned: 0.2 },
    gains: { best: gain, stock: gain, onnxRuntime: { ...gain, ratio: 0.5 } },
    ...{ peerErrors: {}, accuracy: null },
    relativeErrors: [
      { module: 'stock', peer: 'onnxRuntime', errors: [0.5], sameTop: 0 },
      { module: 'tuned', peer: 'onnxRuntime', errors: [1e-6, 2e-6], sameTop: 0.75 },
    ],
  };
  const cells = table.cells(result);
  expect(cells).toHaveLength(table.header.length);
  expect(cells).toEqual([
    ...['f32:decode-4', '40/s', '-', '10/s', '10/s', 'O3', '20/s', '0.50x', '-'],
    ...['2.00x [1.90, 2.10]', '-', '65.00 s', 'equal', '2.0e-6', '75%', ''],
  ]);
});
