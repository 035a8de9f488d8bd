// The parts of `bench:onnx` that need neither a model nor a network.
import { writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { kindLines, kindOf, kindShares } from '../../bench/onnx/kinds.ts';
import type { Result } from '../../bench/onnx/measure.ts';
import { readOptions } from '../../bench/onnx/options.ts';
import { checkFile, prepare, requestsFor } from '../../bench/onnx/prepared.ts';
import { relativeError } from '../../bench/onnx/relative-error.ts';
import { summaryText, table } from '../../bench/onnx/table.ts';
import { BenchError, UsageError } from '../../bench/shared/arguments.ts';
import { temporaryDirectory } from '../support/folders.ts';

const LIGHT = ['shufflenet', 'squeezenet'];

describe('the command line', () => {
  test('has a default for each option', () => {
    expect(readOptions([])).toEqual({
      ...{ models: [], budgetSeconds: 60, rounds: 15, threads: 1, sizes: {}, archive: false },
      ...{ folder: undefined, json: undefined },
    });
  });

  test('takes each model once', () => {
    expect(readOptions(['b', 'a.onnx', 'b', '--archive', '--rounds', '3'])).toMatchObject({
      ...{ models: ['b', 'a.onnx'], archive: true, rounds: 3 },
    });
  });

  test.each([
    [['--dim', 'batch=1', '--dim', 'seq=128']],
    [['--dim', 'batch=1,seq=128']],
    [['--dim', 'batch=1,seq=128', '--dim=seq=128']],
  ])('takes sizes from %j', (argv) => {
    expect(readOptions(argv).sizes).toEqual({ batch: 1, seq: 128 });
  });

  test('takes names with `=` and dots', () => {
    expect(readOptions(['--dim', 'a=b=2', '--dim', 'x.0=3']).sizes).toEqual({ 'a=b': 2, 'x.0': 3 });
  });

  test.each([
    [['--dim', 'batch'], '--dim batch: it takes a name and a size from 1 up'],
    [['--dim', 'batch=0'], '--dim batch=0: it takes a name and a size from 1 up'],
    [['--dim', '=4'], '--dim =4: it takes a name and a size from 1 up'],
    [['--dim', 'a=1,a=2'], '--dim a=2: a is 1 already'],
    [['--threads', '0'], '--threads 0: it takes 1, or all'],
    [['--archive=yes'], "'--archive' does not take an argument"],
    [
      ['--device', 'local-task'],
      'it takes --budget, --rounds, --threads, --folder, --json, --dim, --archive',
    ],
  ])('refuses %j and names valid arguments', (argv, message) => {
    expect(() => readOptions(argv)).toThrow(UsageError);
    expect(() => readOptions(argv)).toThrow(message);
  });

  test('takes all threads as `all` or as their number', () => {
    const all = availableParallelism();
    expect(readOptions(['--threads', 'all']).threads).toBe(all);
    expect(readOptions(['--threads', String(all)]).threads).toBe(all);
  });
});

describe('the requested models', () => {
  test('are all light models by default', () => {
    expect(requestsFor([], LIGHT, false).map(({ source }) => source)).toEqual([
      'light:shufflenet',
      'light:squeezenet',
    ]);
  });

  test('are light models by name and files by path', () => {
    expect(requestsFor(['squeezenet', 'some/net.onnx'], LIGHT, false)).toEqual([
      { name: 'squeezenet', model: 'squeezenet', source: 'light:squeezenet', isArchive: false },
      { name: 'net', model: 'net', source: 'some/net.onnx', isArchive: false },
    ]);
  });

  test('are each followed by the model with an archive', () => {
    expect(requestsFor(['net.onnx'], LIGHT, true)).toEqual([
      { name: 'net', model: 'net', source: 'net.onnx', isArchive: false },
      { name: 'net-archive', model: 'net', source: 'net.onnx', isArchive: true },
    ]);
  });

  test('are reported with the names of the light models if there is no such file', async () => {
    const message = 'squezenet: there is no such file; give the path of an .onnx file, or one of shufflenet';
    expect(() => {
      checkFile('squezenet', LIGHT);
    }).toThrow(message);
    const [request] = requestsFor(['squezenet'], LIGHT, false);
    await expect(prepare(request!, {}, LIGHT, '/no/python')).rejects.toThrow(BenchError);
  });

  test('cannot be folders', () => {
    const folder = temporaryDirectory();
    expect(() => {
      checkFile(folder, LIGHT);
    }).toThrow(`${folder}: it is not a file`);
  });

  test('may be any file', () => {
    const file = join(temporaryDirectory(), 'net.onnx');
    writeFileSync(file, '');
    expect(() => {
      checkFile(file, LIGHT);
    }).not.toThrow();
  });
});

describe('the kind of work', () => {
  const named = (work: string) => `main$async_dispatch_12_${work}`;

  test.each([
    ['conv_64x111x111x3x3x3_f32', 'convolution'],
    ['depthwise_conv_2d_nhwc_hwc_1x28x28_f32', 'convolution'],
    ['matmul_like_1000x169x512_f32', 'matmul'],
    ['matmul_1x1000x1024_f32', 'matmul'],
    ['batch_matmul_4x34x784x34_f32', 'matmul'],
    ['matvec_like_1000x1024_f32', 'matmul'],
    ['batch_mmt4d_1x2x3_f32', 'matmul'],
    ['elementwise_64x55x55_f32', 'elementwise'],
    ['elementwise_transpose_3x4_f32', 'copy or transpose'],
    ['transpose_3x4_f32', 'copy or transpose'],
    ['slow_memcpy', 'copy or transpose'],
    ['reduction_1024x49_f32', 'reduction'],
    ['softmax_1000xf32_dispatch_tensor_store', 'softmax'],
    ['pooling_nchw_max_1x64x55x55_f32', 'pooling'],
    ['pack_f32', 'packing'],
    ['unpack_elementwise_8x32_f32', 'packing'],
    ['topk_3xf32', 'other'],
  ])('%s is %s', (work, kind) => {
    expect(kindOf(named(work), true)).toBe(kind);
  });

  test('is pooling for a window without multiplications', () => {
    expect(kindOf(named('conv_64x55x55x3x3_f32'), false)).toBe('pooling');
  });

  test('does not depend on the number of a dispatch, which may differ in another program', () => {
    const times = [{ name: 'main_dispatch_7_conv_8x8x3x3_f32', seconds: 1, calls: 1 }];
    expect(kindShares(times, ['main_dispatch_5_conv_8x8x3x3_f32'])[0]?.kind).toBe('convolution');
    expect(kindShares(times, [])[0]?.kind).toBe('pooling');
  });

  test('has the share of all its dispatches, largest first', () => {
    const times = [
      { name: named('slow_memcpy'), seconds: 1, calls: 4 },
      { name: named('matmul_1x2x3_f32'), seconds: 2, calls: 1 },
      { name: named('matmul_4x2x3_f32'), seconds: 5, calls: 1 },
    ];
    const shares = kindShares(times, []);
    expect(shares).toEqual([
      { kind: 'matmul', share: 0.875, dispatches: 2 },
      { kind: 'copy or transpose', share: 0.125, dispatches: 1 },
    ]);
    expect(kindLines(shares)).toEqual(['  time of tuned: matmul 88%, copy or transpose 13%']);
  });

  test('is not printed without times', () => {
    expect(kindLines(kindShares([], []))).toEqual([]);
  });
});

describe('the relative error', () => {
  const f32 = (...values: number[]) => new Uint8Array(Float32Array.from(values).buffer);

  test.each([
    [[1, 2, -4], [1, 2, -4], 0],
    [[1, 2, -4], [1, 1, -8], 0.5],
    [[0, 0], [0, 0], 0],
    [[0, -0], [0, 0], 0],
    [[1, 0], [0, 0], Infinity],
    [[NaN, 1], [2, 1], Infinity],
    [[1], [1, 1], Infinity],
  ])('of %j from %j is %d', (ours, peers, error) => {
    expect(relativeError(f32(...ours), f32(...peers), 'f32')).toBe(error);
  });

  test("reads bytes within Node's pool of buffers", () => {
    const part = Buffer.from(f32(3, 5));
    expect(relativeError(part, f32(3, 4), 'f32')).toBe(0.25);
  });

  test('is infinite for different elements of other types', () => {
    expect(relativeError(Uint8Array.of(1), Uint8Array.of(0), 'i1')).toBe(Infinity);
    expect(relativeError(Uint8Array.of(1), Uint8Array.of(1), 'i1')).toBe(0);
  });
});

const NOTHING: Result = {
  ...{ model: 'net', state: 'not prepared', reason: null, verdict: null, sameCode: false },
  ...{ onnxRuntime: null, compileSeconds: null, kinds: [], dispatches: null },
  explanation: null,
};

/** A model with these seconds for ONNX Runtime, stock and tuned. */
const measured = (model: string, [peer, stock, tuned]: [number, number, number], error = 1e-6): Result => {
  const over = (a: number, b: number) => ({
    ...{ ratio: a / b, low: a / b, high: a / b },
    seconds: [a, b] as const,
  });
  return {
    ...NOTHING,
    ...{ model, state: 'compiled by both', compileSeconds: { stock: 5, tuned: 65 } },
    verdict: { equal: true, maxError: 0, compared: null, reason: null, timing: over(stock, tuned) },
    onnxRuntime: {
      relativeErrors: { stock: [0], tuned: [0, error] },
      stock: over(peer, stock),
      tuned: over(peer, tuned),
    },
  };
};

describe('the table', () => {
  test('has a cell for each column', () => {
    const cells = table.cells(measured('net', [0.02, 0.04, 0.01]));
    expect(cells).toHaveLength(table.header.length);
    expect(cells).toEqual([
      ...['net', '20.0 ms', '40.0 ms', '10.0 ms', '4.00x [4.00, 4.00]', '2.00x', 'equal', '1.0e-6'],
      ...['-', '-', '65.00 s', '5.00 s', ''],
    ]);
  });

  test('gives the reason for missing times', () => {
    const reason = 'net.onnx: the size of batch is not known; add --dim batch=SIZE';
    const cells = table.cells({ ...NOTHING, reason });
    expect(cells.slice(1, -1)).toEqual(Array(11).fill('-'));
    expect(cells.at(-1)).toBe(`not prepared: ${reason}`);
  });
});

describe('the summary', () => {
  const lines = (...results: Result[]) =>
    new Map(
      summaryText(results)
        .split('\n')
        .map((line) => [line.slice(0, 24).trim(), line.slice(24)]),
    );

  test('has geometric means against stock and ONNX Runtime, and the worst of each', () => {
    const summary = lines(measured('a', [4, 4, 1]), measured('b', [1, 2, 2]));
    expect(summary.get('tuned/stock')).toBe('2.000x over 2 models; worst 1.000x, b');
    expect(summary.get('tuned/ONNX Runtime')).toBe('1.414x over 2 models; worst 0.500x, b');
  });

  test('ignores gains with wrong results', () => {
    const wrong = measured('a', [4, 4, 1]);
    const summary = lines({ ...wrong, verdict: { ...wrong.verdict!, equal: false } });
    expect(summary.get('wrong')).toBe('a');
    expect(summary.get('tuned/stock')).toBe('- over 0 models; worst -');
    expect(summary.get('tuned/ONNX Runtime')).toBe('- over 0 models; worst -');
  });

  test('lists models that were not prepared, did not compile, or differ from ONNX Runtime', () => {
    const summary = lines(
      { ...NOTHING, model: 'a' },
      { ...NOTHING, model: 'b', state: 'broken' },
      { ...NOTHING, model: 'c', state: 'stock does not compile' },
      measured('d', [1, 1, 1], 0.1),
      { ...measured('e', [1, 1, 1]), sameCode: true },
    );
    expect(Object.fromEntries([...summary].slice(0, 8))).toEqual({
      models: '5',
      'not prepared': 'a',
      'stock does not compile': 'c',
      'broken by us': 'b',
      'not measured': '0',
      wrong: '0',
      'unlike ONNX Runtime': 'd',
      'same code': 'e',
    });
  });
});
