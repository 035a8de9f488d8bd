// The parts of `bench:zoo` that need neither a model nor a network.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { BenchError, UsageError } from '../../bench/shared/arguments.ts';
import { earlierResults } from '../../bench/shared/peers/earlier.ts';
import type { Result } from '../../bench/shared/peers/measure.ts';
import { relativeError, sameTop } from '../../bench/shared/peers/outputs.ts';
import { drawPackaged, modelsFor } from '../../bench/zoo/models.ts';
import { readOptions } from '../../bench/zoo/options.ts';
import { checkFile, prepare } from '../../bench/zoo/prepared.ts';
import { summaryText, table } from '../../bench/zoo/table.ts';
import { temporaryDirectory } from '../support/folders.ts';

const namesFor = (asked: readonly string[], seed = 1) => modelsFor(asked, seed).map(({ name }) => name);

describe('the models', () => {
  test('are the core by default: six networks and two models from packages', () => {
    expect(namesFor([])).toEqual(namesFor(['core']));
    const core = modelsFor([], 1);
    expect(core).toHaveLength(8);
    expect(core.filter(({ source }) => source.startsWith('wheel:'))).toHaveLength(2);
  });

  test('include, for any seed, six from packages of at least three exporters, two of them in the core', () => {
    for (let seed = 0; seed < 50; seed++) {
      const { core, rest } = drawPackaged(seed);
      expect(core.map(({ exporter }) => exporter)).toEqual(['Paddle', 'PyTorch 1']);
      const all = [...core, ...rest];
      expect(new Set(all).size).toBe(6);
      expect(new Set(all.map(({ exporter }) => exporter)).size).toBeGreaterThanOrEqual(3);
    }
  });

  test('are listed after an unknown name', () => {
    expect(() => namesFor(['squeezenet'])).toThrow(UsageError);
    expect(() => namesFor(['squeezenet'])).toThrow(
      /no such model; give an .onnx file, core, rest, light, int8, .*light:squeezenet/,
    );
  });

  test('are reported if the file is missing or is a folder', async () => {
    const [missing] = modelsFor(['squezenet.onnx'], 1);
    await expect(prepare(missing!, '/no/python')).rejects.toThrow(BenchError);
    await expect(prepare(missing!, '/no/python')).rejects.toThrow('squezenet.onnx: there is no such file');
    const folder = temporaryDirectory();
    expect(() => {
      checkFile(folder);
    }).toThrow(`${folder}: it is not a file`);
  });
});

describe('the command line', () => {
  test.each([
    [['--dim', 'batch=1', '--dim', 'seq=128'], { batch: 1, seq: 128 }],
    [['--dim', 'batch=1,seq=128', '--dim=seq=128'], { batch: 1, seq: 128 }],
    [['--dim', 'a=b=2', '--dim', 'x.0=3'], { 'a=b': 2, 'x.0': 3 }],
  ])('takes sizes from %j', (argv, sizes) => {
    expect(readOptions(argv).measured.sizes).toEqual(sizes);
  });

  test.each([
    [['--dim', 'batch'], '--dim batch: it takes a name and a size from 1 up'],
    [['--dim', 'batch=0'], '--dim batch=0: it takes a name and a size from 1 up'],
    [['--dim', '=4'], '--dim =4: it takes a name and a size from 1 up'],
    [['--dim', 'a=1,a=2'], '--dim a=2: a is 1 already'],
    [['--threads', '0'], '--threads 0: it takes 1, or all'],
    [['--resume=yes'], "'--resume' does not take an argument"],
    [['--device', 'local-task'], 'it takes --budget, --rounds, --threads, --seed, --json, --dim, --resume'],
  ])('refuses %j and names valid arguments', (argv, message) => {
    expect(() => readOptions(argv)).toThrow(UsageError);
    expect(() => readOptions(argv)).toThrow(message);
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

test('rows have the same answer if their largest elements are at the same place', () => {
  const f32 = (...values: number[]) => new Uint8Array(Float32Array.from(values).buffer);
  expect(sameTop(f32(1, 2, -1, 9, 8, 7), f32(0, 3, 2, 7, 8, 9), 'f32', 3)).toBe(0.5);
  expect(sameTop(f32(1, 2, -1), f32(0, 3, 2, 7, 8, 9), 'f32', 3)).toBe(0);
});

const NOTHING: Result = {
  ...{ model: 'net', state: 'not prepared', reason: null, verdict: null, sameCode: false },
  ...{ variants: [], best: null, seconds: {}, gains: {}, peerErrors: {}, accuracy: null, relativeErrors: [] },
  ...{ compileSeconds: null, explanation: null },
};

/** A model with these seconds for ONNX Runtime, OpenVINO, stock, the best of stock, and tuned. */
function measured(model: string, seconds: readonly [number, number, number, number, number]): Result {
  const [onnxRuntime, openVino, stock, best, tuned] = seconds;
  const over = (other: number) => {
    const ratio = other / tuned;
    return { ratio, low: 0.9 * ratio, high: 1.1 * ratio, seconds: [other, tuned] as const };
  };
  return {
    ...{ ...NOTHING, model, state: 'compiled by both', best: 'O3' },
    compileSeconds: { stock: 5, tuned: 65 },
    verdict: { equal: true, maxError: 0, compared: null, reason: null, timing: null },
    seconds: { onnxRuntime, openVino, stock, best, tuned },
    gains: {
      ...{ onnxRuntime: over(onnxRuntime), openVino: over(openVino) },
      ...{ stock: over(stock), best: over(best), tuned: over(tuned) },
    },
    relativeErrors: [{ module: 'tuned', peer: 'onnxRuntime', errors: [0, 1e-6], sameTop: null }],
  };
}

describe('an interrupted run', () => {
  const written = (options: readonly string[], results: readonly Result[]) => {
    const json = join(temporaryDirectory(), 'zoo.json');
    const { measured: own } = readOptions([...options, '--json', json]);
    writeFileSync(json, JSON.stringify({ options: own, results }));
    return json;
  };
  const earlier = (...argv: string[]) => {
    const { kept, measured: own } = readOptions(argv);
    return earlierResults(kept, own).map(({ model }) => model);
  };

  test('is resumed with the results of its file, but for models that were not prepared', () => {
    const json = written([], [measured('a', [1, 1, 1, 1, 1]), { ...NOTHING, model: 'b' }]);
    expect(earlier('--json', json, '--resume')).toEqual(['a']);
    expect(earlier('--json', json)).toEqual([]);
  });

  test('begins if there is no file yet', () => {
    expect(earlier('--json', join(temporaryDirectory(), 'new.json'), '--resume')).toEqual([]);
  });

  test('is refused with other options, and without a file', () => {
    const json = written(['--budget', '15'], []);
    expect(() => earlier('--json', json, '--resume')).toThrow('was measured with {"budgetSeconds":15');
    expect(() => earlier('--resume')).toThrow('--resume: it needs --json FILE');
  });
});

describe('the table', () => {
  test('shows when another process kept tuning from measuring', () => {
    const operation = { code: 'lock-busy', reason: 'another process measured all the time' };
    const explanation = {
      operations: [operation, operation],
      time: null,
    } as unknown as Result['explanation'];
    expect(table.linesBelow({ ...NOTHING, explanation })).toEqual([
      '  not tuned: another process measured all the time',
    ]);
  });

  test('has a cell for each column', () => {
    const cells = table.cells(measured('net', [0.02, 0.01, 0.08, 0.04, 0.02]));
    expect(cells).toHaveLength(table.header.length);
    expect(cells).toEqual([
      ...['net', '20.0 ms', '10.0 ms', '80.0 ms', '40.0 ms', 'O3', '20.0 ms', '1.00x', '0.50x'],
      ...['2.00x [1.80, 2.20]', '-', '65.00 s', 'equal', '1.0e-6', '-', ''],
    ]);
  });

  test('gives reasons for missing columns, and for builds and peers that failed', () => {
    const error = 'm.mlir:1:1: error: no';
    const failed: Result = {
      ...{ ...NOTHING, state: 'broken', reason: 'it takes more than 720 s' },
      variants: [{ name: 'im2col', flags: [], module: 'im2col.vmfb', seconds: 1, error, callSeconds: null }],
      peerErrors: { openVino: 'OpenVINO failed (run): no' },
    };
    expect(table.cells(failed).at(-1)).toBe('broken: it takes more than 720 s');
    expect(table.linesBelow(failed)).toEqual([
      ...['  stock with im2col fails: m.mlir:1:1: error: no', '  OpenVINO failed (run): no'],
    ]);
  });
});

describe('the summary', () => {
  const lines = (...results: Result[]) =>
    new Map(
      summaryText(results)
        .split('\n')
        .map((line) => [line.slice(0, 34).trim(), line.slice(34)]),
    );

  test('has geometric means against each rival, and those of light models without LRN', () => {
    const summary = lines(
      measured('a', [4, 2, 8, 1, 1]),
      measured('light:vgg19', [4, 2, 8, 1, 1]),
      measured('light:zfnet512', [1, 2, 8, 16, 1]),
    );
    expect(summary.get('tuned/ONNX Runtime')).toBe('2.520x over 3 models; worst 1.000x, light:zfnet512');
    expect(summary.get('tuned/best stock')).toBe('2.520x over 3 models; worst 1.000x, a');
    expect(summary.get('light models, tuned/ONNX Runtime')).toBe(
      '2.000x over 2 models; without LRN 4.000x over 1 model',
    );
    expect(lines(measured('a', [1, 1, 1, 1, 1])).has('light models, tuned/ONNX Runtime')).toBe(false);
  });

  test('lists failures, and counts no gain of wrong results', () => {
    const wrong = measured('a', [4, 4, 4, 4, 1]);
    const summary = lines(
      { ...wrong, verdict: { ...wrong.verdict!, equal: false } },
      { ...NOTHING, model: 'b', state: 'stock does not compile' },
      {
        ...measured('c', [1, 1, 1, 1, 1]),
        relativeErrors: [{ module: 'best', peer: 'openVino', errors: [Infinity], sameTop: null }],
      },
    );
    expect(summary.get('wrong')).toBe('a');
    expect(summary.get('stock does not compile')).toBe('b');
    expect(summary.get('unlike a peer')).toBe('c (best, openVino: Infinity)');
    expect(summary.get('tuned/stock')).toBe('1.000x over 1 model; worst 1.000x, c');
  });
});
