// The text of `iree-tuned lock`: a summary, and the changes against the file of before.
import { expect, test } from 'vitest';
import { DEFAULT_CONFIGURATION } from '../../src/backend/configuration.ts';
import { changesOf, summaryLines } from '../../src/cli/lock.ts';
import type { LockedProgram, LockedWorkload } from '../../src/decision/lock/lock.ts';
import { TILE } from '../store/samples.ts';

const SPEEDUP = { ratio: 1.5, low: 1.4, high: 1.6 };
const TUNED: LockedWorkload = { kind: 'record', configuration: TILE, speedup: SPEEDUP };
const BEST: LockedWorkload = { kind: 'record', configuration: DEFAULT_CONFIGURATION, speedup: SPEEDUP };
const unknown = (because = 'there was no record'): LockedWorkload => ({ kind: 'unknown', because });

const entry = (program: string, ...workloads: readonly LockedWorkload[]): LockedProgram => ({
  ...{ program, digest: 'd', compiler: '3.13.0@a', target: 'llvm-cpu', flags: [], inject: 'auto', dim: '' },
  ...{ forms: new Map(), route: 'spec', surveyed: false },
  workloads: new Map(workloads.map((one, i) => [`contraction m=${i}`, one])),
});

test('the summary counts workloads by result and reason, and names programs to tune once', () => {
  const reasons = ['a', 'b', 'c', 'd', 'e'].map((reason) => unknown(reason));
  const first = entry('a.mlir', TUNED, TUNED, BEST, unknown(), unknown(), ...reasons);
  const gpu = { ...entry('a.mlir', unknown()), target: 'vulkan' };
  expect(summaryLines([first, gpu])).toEqual([
    '1 program with 11 workloads: 2 tuned, 1 whose default is best, 8 left to the default',
    '  3 x there was no record',
    ...['a', 'b', 'c'].map((reason) => `  1 x ${reason}`),
    '  2 x other reasons',
    'iree-tuned tune a.mlir tunes the workloads without a record.',
  ]);
});

test('changes are a line for each new, removed and changed program', () => {
  const [gone, same, fresh] = ['a.mlir', 'b.mlir', 'c.mlir'].map((name) => entry(name, TUNED, BEST));
  expect(changesOf({ programs: [gone!, same!] }, { programs: [same!, fresh!] })).toEqual([
    '- a.mlir: llvm-cpu, compiler 3.13.0@a',
    '+ c.mlir: llvm-cpu, compiler 3.13.0@a',
  ]);
  const changes = [{ route: 'inline' as const }, { workloads: entry('b.mlir', unknown(), BEST).workloads }];
  for (const change of changes)
    expect(changesOf({ programs: [same!] }, { programs: [{ ...same!, ...change }] })).toEqual([
      '~ b.mlir: llvm-cpu, compiler 3.13.0@a',
    ]);
});
