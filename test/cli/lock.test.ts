// The text of `iree-tuned lock`: a summary, and the changes against the file of before.
import { describe, expect, test } from 'vitest';
import { changeLines, summaryLines } from '../../src/cli/lock.ts';
import type { Lock, LockedProgram, LockedWorkload } from '../../src/decision/lock/lock.ts';
import { TILE } from '../store/samples.ts';

const SPEEDUP = { ratio: 1.5, low: 1.4, high: 1.6 };
const TUNED: LockedWorkload = { kind: 'record', configuration: TILE, speedup: SPEEDUP };
const BEST: LockedWorkload = {
  ...{ kind: 'record', configuration: { version: 1, kind: 'default' } },
  speedup: { ratio: 1, low: 1, high: 1 },
};
const WORSE: LockedWorkload = {
  kind: 'left-out',
  configuration: TILE,
  because: 'it makes this program worse',
};
const unknown = (because = 'there was no record'): LockedWorkload => ({ kind: 'unknown', because });

const entry = (program: string, ...workloads: readonly LockedWorkload[]): LockedProgram => ({
  ...{ program, digest: 'd', compiler: '3.13.0@a', target: 'llvm-cpu', flags: [], inject: 'auto', dim: '' },
  ...{ forms: new Map(), route: 'spec', surveyed: false },
  workloads: new Map(workloads.map((one, i) => [`contraction m=${i}`, one])),
});
const lock = (...programs: readonly LockedProgram[]): Lock => ({ programs });
const times = (count: number, one: LockedWorkload) => Array<LockedWorkload>(count).fill(one);

describe('the summary', () => {
  test('groups the workloads by their result, and those left to the default by the reason', () => {
    const first = entry('a.mlir', ...times(40, TUNED), ...times(12, BEST), ...times(7, unknown()));
    const second = entry('b.mlir', TUNED, WORSE, unknown(), unknown('an earlier search could not decide'));
    expect(summaryLines([first, second])).toEqual([
      '2 programs with 63 workloads: 41 tuned, 12 whose default is best, 10 left to the default',
      '  8 x there was no record',
      '  1 x it makes this program worse',
      '  1 x an earlier search could not decide',
      'iree-tuned tune a.mlir b.mlir tunes the workloads without a record.',
    ]);
  });

  test('names one program once for all its targets, and no group without a workload', () => {
    const [cpu, gpu] = [entry('a.mlir', TUNED), { ...entry('a.mlir', TUNED), target: 'vulkan' }];
    expect(summaryLines([cpu, gpu])).toEqual(['1 program with 2 workloads: 2 tuned']);
    expect(summaryLines([entry('a.mlir')])).toEqual(['1 program with 0 workloads']);
  });

  test('sums up rare reasons', () => {
    const reasons = Array.from({ length: 9 }, (_, i) => unknown(`reason ${i}`));
    const lines = summaryLines([entry('a.mlir', ...reasons, unknown('reason 8'))]);
    expect(lines.slice(1)).toEqual([
      '  2 x reason 8',
      ...[0, 1, 2].map((i) => `  1 x reason ${i}`),
      '  5 x other reasons',
    ]);
  });
});

describe('the changes', () => {
  test('have one line for a new and for a removed program', () => {
    const [gone, same, fresh] = ['a.mlir', 'b.mlir', 'c.mlir'].map((name) =>
      entry(name, ...times(60, TUNED)),
    );
    expect(changeLines(lock(gone!, same!), lock(same!, fresh!))).toEqual([
      '- a.mlir: llvm-cpu, compiler 3.13.0@a',
      '+ c.mlir: llvm-cpu, compiler 3.13.0@a',
    ]);
  });

  test('of a program have each changed line, at most ten', () => {
    const few = changeLines(lock(entry('a.mlir', TUNED, BEST)), lock(entry('a.mlir', TUNED, unknown())));
    expect(few).toEqual([
      '  a.mlir: llvm-cpu, compiler 3.13.0@a',
      expect.stringMatching(/^- contraction m=1: .*"kind":"default"/),
      expect.stringMatching(/^\+ contraction m=1: .*there was no record/),
    ]);
    const many = changeLines(
      lock(entry('a.mlir', ...times(30, unknown()))),
      lock(entry('a.mlir', ...times(30, TUNED))),
    );
    expect(many).toHaveLength(11);
    expect(many.at(-1)).toBe('... and 51 more lines (--json has all)');
  });
});
