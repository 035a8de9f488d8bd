import { parse } from 'csv-parse/sync';
import { describe, expect, test } from 'vitest';
import { DEFAULT_CONFIGURATION } from '../../src/backend/configuration.ts';
import { operationsOf } from '../../src/compat/operation.ts';
import { bestLines, consoleBlock, csvHeader, csvRow, resultBlock, runLog } from '../../src/compat/report.ts';
import { matmul, workload } from '../support/workloads.ts';
import { measurement, PACKED } from './samples.ts';

/** The dispatch profiler's own columns, byte for byte. */
const UPSTREAM =
  'Provider,op_kind,Operation,bytes,flops,batch_count,m,n,k,lhs,rhs,result,split_k_mode,split_k_slices,' +
  'Tile config,Core class,Instruction class,Verification,Runtime(ms),GFLOPs';
const OURS = 'Configuration,Target,Device,Compiler,Ratio,Low,High';

/** A strict parser: quotes only where needed, and equally many fields in all lines. */
const read = (text: string) =>
  parse<Record<string, string>>(text, {
    columns: true,
    relax_quotes: false,
    relax_column_count: false,
    record_delimiter: '\r\n',
  });

test('the header is the dispatch profiler’s, with tags before and more columns after', () => {
  expect(csvHeader([])).toBe(`${UPSTREAM},${OURS}\r\n`);
  const tags = [['Machine', 'a'] as const, ['Date, time', 'b'] as const];
  expect(csvHeader(tags, ['File'])).toBe(`Machine,"Date, time",${UPSTREAM},${OURS},File\r\n`);
});

describe('a line', () => {
  test('has its values in the columns of the header, for any text', () => {
    const tags = [['Run', 'a "b", c\nd'] as const];
    const [row, ...more] = read(csvHeader(tags) + csvRow(measurement(), tags));
    expect(more).toEqual([]);
    expect(row).toEqual({
      Run: 'a "b", c\nd',
      ...{ Provider: 'IREE Codegen', op_kind: 'matmul', Operation: 'matmul_512x512x512_f32t_f32t_f32t' },
      ...{ bytes: '3145728', flops: '268435456', batch_count: '1', m: '512', n: '512', k: '512' },
      ...{ lhs: 'f32t', rhs: 'f32t', result: 'f32t', split_k_mode: 'N/A', split_k_slices: 'N/A' },
      ...{ 'Tile config': '64x32x128', 'Core class': 'simd', 'Instruction class': 'tile' },
      ...{ Verification: 'SUCCESS', 'Runtime(ms)': '0.095', GFLOPs: '2825.64' },
      Configuration: 'tile dist=64,32,0 cr=0,0,128 vcp=8,16,0 vr=0,0,4 peel',
      ...{ Target: 'llvm-cpu znver4', Device: 'AMD, "EPYC" 4', Compiler: '3.13.0@abc' },
      ...{ Ratio: '1.25', Low: '1.2', High: '1.3' },
    });
  });

  test('of the default and of an unmeasured dispatch has the dispatch profiler’s words', () => {
    const stock = csvRow(measurement(undefined, { configuration: DEFAULT_CONFIGURATION, seconds: 2 }), []);
    expect(stock).toContain(',Default,Default,Default,SUCCESS,2000.0,0.13,default,');
    const failed = {
      verification: 'Not verified',
      seconds: null,
      ratio: null,
      low: null,
      high: null,
    } as const;
    const row = csvRow(measurement(undefined, { ...failed, configuration: PACKED }), []);
    expect(row).toContain(
      ',4x8,simd,mmt4d,Not verified,,Not run,"data-tile inner=16,16,1 swapped dist=4,8",',
    );
    expect(row.endsWith(',,,\r\n')).toBe(true);
  });

  test('of split-k has the number of parts', () => {
    const shape = matmul(128, 128, 12288);
    const operation = operationsOf([{ workload: shape }], 4)[0]!;
    const [row] = read(csvHeader([]) + csvRow(measurement(shape, { operation }), []));
    expect(row).toMatchObject({ op_kind: 'matmul_splitk', split_k_mode: 'parallel', split_k_slices: '4' });
  });

  test('never has an exponent', () => {
    const [row] = read(csvHeader([]) + csvRow(measurement(matmul(1, 1, 1), { seconds: 1.23456e-8 }), []));
    expect(row).toMatchObject({ 'Runtime(ms)': '0.000012346', GFLOPs: '0.16' });
  });
});

describe('a block', () => {
  test('has the dispatch profiler’s format', () => {
    const shape = matmul(3456, 1024, 2048, ['f16', 'f16', 'f16']);
    const text = consoleBlock(measurement(shape, { seconds: 0.062e-3 }));
    const name = 'matmul_3456x1024x2048_f16t_f16t_f16t';
    const configuration = 'tile_config_dist_64x32x0_cr_0x0x128_vcp_8x16x0_vr_0x0x4_peel';
    expect(text).toBe(
      [
        '---------------------------------------------------------------- ',
        `Dispatch      : ${name}_${configuration}`,
        'Provider      : IREE Codegen',
        'OpKind        : OperationKind.Matmul',
        `Operation     : ${name}`,
        `Configuration : ${configuration}`,
        'Arguments     : --batch_count=1 --m=3456 --n=1024 --k=2048 --lhs=f16t --rhs=f16t --result=f16t ' +
          '--split_k_mode=N/A --split_k_slices=N/A',
        'Verification  : SUCCESS',
        'Runtime(ms)   : 0.062',
        'GFLOPs        : 233798.62',
      ].join('\n'),
    );
  });

  test('of a batch matmul, and of an unmeasured dispatch', () => {
    const shape = workload({ batch: 16, m: 512, n: 64, k: 512 });
    const text = consoleBlock(
      measurement(shape, { configuration: DEFAULT_CONFIGURATION, seconds: null, verification: 'FAILED' }),
    );
    expect(text).toContain('OpKind        : OperationKind.BatchMatmul\n');
    expect(text).toContain('Configuration : tile_config_default\n');
    expect(text).toMatch(
      /Verification {2}: FAILED\nRuntime\(ms\) {3}: Not profiled\nGFLOPs {8}: Not profiled$/,
    );
  });
});

const at = (seconds: number) => new Date(2023, 8, 5, 7, 3, 9, 1000 * seconds);
const times = { begun: at(0), prepared: at(1.4), ended: at(3727) };

test("the log of a run has the auto-scheduler's format", () => {
  expect(runLog({ ...times, spaceSizes: [16, 8], valid: 21 })).toBe(
    '[Date]: 05/09/2023 07:03:09\n\n' +
      '[Transform Time]: 0 hours 0 minutes 1 seconds\n\n' +
      '[Search Space Size]: 24\n\n' +
      'search space size is : 16\nsearch space size is : 8\nvalid run: 21\n' +
      '[Search Time]: 1 hours 2 minutes 6 seconds\n\n' +
      '=======================================\n\n',
  );
  expect(resultBlock([], { ...times, ended: at(61), spaceSizes: [], valid: 0 })).toContain(
    '0 hours 1 minutes 0 seconds',
  );
});

test('the best configuration is reported by its tiles', () => {
  expect(bestLines(measurement())).toBe(
    '[Performance]: The best is tilesizes:(64x32x128)_interchange:(012)_vectorsizes:(8x16x4)    simd tile\n' +
      'with gflops 2825.64',
  );
  expect(bestLines(measurement(undefined, { configuration: PACKED }))).toMatch(
    /tilesizes:\(4x8\)_.* simd mmt4d\n/,
  );
  expect(bestLines(measurement(undefined, { configuration: DEFAULT_CONFIGURATION, seconds: null }))).toBe(
    '[Performance]: The best is tilesizes:(default)\nwith gflops Not run',
  );
});
