// Notes about delivered modules: their operations, and their size.
import { readdirSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { ExplainedOperation } from '../../src/report/explain.ts';
import {
  keepModuleNote,
  moduleNotes,
  notedOperations,
  type ModuleNote,
} from '../../src/report/module-note.ts';
import { because } from '../../src/system/reason.ts';
import { temporaryDirectory } from '../support/folders.ts';
import { DECISION } from '../store/samples.ts';

const operation = (change: Partial<ExplainedOperation> = {}): ExplainedOperation => ({
  ...{ location: 'in.mlir:1:1', operation: 'linalg.matmul', workload: 'w', outcome: 'hit' },
  ...{ ...because('faster'), configuration: DECISION.configuration, speedup: null, source: 'own database' },
  ...{ record: null, landed: true, executables: [] },
  ...change,
});

test('operations with one configuration are one entry with the first places', () => {
  const seven = Array.from({ length: 7 }, (_, i) => operation({ location: `in.mlir:${i}:1` }));
  const others = [
    operation({ configuration: null, outcome: 'default' }),
    operation({ configuration: { version: 1, kind: 'default' } }),
  ];
  const found = notedOperations([...seven, ...others, operation({ workload: 'another' })]);
  expect(found.map(({ workload, count, locations }) => [workload, count, locations.length])).toEqual([
    ['w', 7, 5],
    ['another', 1, 1],
  ]);
});

const note = (i: number, bytes: number): ModuleNote => ({
  ...{
    identity: String(i).repeat(64),
    builtAt: '2026-01-01T00:00:00Z',
    input: 'x'.repeat(bytes),
    folder: '/',
  },
  ...{ target: 't', device: 'd', compiler: 'c', forms: {}, operations: [], untuned: 0 },
});

test('the oldest notes go if all are larger than 16 MiB', () => {
  const cache = temporaryDirectory();
  const keep = (i: number, bytes: number) => {
    keepModuleNote(cache, note(i, bytes));
    const time = 1_700_000_000 + i;
    const path = moduleNotes.pathOf(cache, String(i).repeat(64));
    if (readdirSync(join(cache, 'modules')).some((name) => path.endsWith(name))) utimesSync(path, time, time);
  };
  for (const i of [1, 2, 3]) keep(i, 5 * 2 ** 20);
  expect(readdirSync(join(cache, 'modules'))).toHaveLength(3);
  keep(4, 5 * 2 ** 20);
  expect([1, 2, 3, 4].map((i) => moduleNotes.recall(cache, String(i).repeat(64)) !== null)).toEqual([
    ...[false, true, true, true],
  ]);
});
