import { expect, test } from 'vitest';
import type { Decision } from '../../src/decision/decision.ts';
import { explainOperations, explainProgram } from '../../src/report/explain.ts';
import type { ProgramVerdict } from '../../src/program/verdict.ts';
import { because } from '../../src/system/reason.ts';

const NOTHING = { bytes: new Uint8Array(), cuts: [] };

const decision = (executables: readonly string[]): Decision =>
  ({
    place: { operation: null, location: 'in.mlir:3:5', name: 'linalg.matmul' },
    outcome: 'hit',
    ...because('faster', '2.00x faster than the default'),
    configuration: { kind: 'tile', version: 1 },
    evidence: null,
    record: null,
    tunable: { key: 'contraction m=4', executables },
  }) as unknown as Decision;

test('each operation says whether its configuration landed, and in which executables', () => {
  const decisions = [decision(['main_dispatch_0']), decision(['main_dispatch_1']), decision([])];
  const operations = explainOperations(NOTHING, 'in.mlir', decisions, [true, false, false]);
  expect(
    operations.map(({ landed, executables, code, reason }) => ({ landed, executables, code, reason })),
  ).toEqual([
    {
      landed: true,
      executables: ['main_dispatch_0'],
      ...because('faster', '2.00x faster than the default'),
    },
    {
      landed: false,
      executables: ['main_dispatch_1'],
      code: 'not-applied',
      reason: '2.00x faster than the default; not applied: main_dispatch_1 lacks the configuration',
    },
    {
      landed: false,
      executables: [],
      code: 'not-applied',
      reason: '2.00x faster than the default; not applied: no executable has the configuration',
    },
  ]);
  expect(explainOperations(NOTHING, 'in.mlir', [decision([])], null)).toMatchObject([{ landed: null }]);
});

test('each function of a program has a code for its reason', () => {
  const functions = [
    { equal: true, reason: null },
    { equal: true, reason: 'it took too long' },
    { equal: false, reason: 'element 0 is 1 instead of 2' },
    { equal: null, reason: 'no draw of inputs was usable' },
  ];
  const { functions: explained } = explainProgram({ functions } as unknown as ProgramVerdict);
  const codes = explained.map(({ code }) => code);
  expect(codes).toEqual([null, 'not-timed', 'results-differ', 'results-unknown']);
});
