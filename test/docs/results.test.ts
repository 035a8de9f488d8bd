// bench/RESULTS.md, the pictures and the README show the figures of bench/results.json. `npx vitest run test/docs/results.test.ts -u`
// writes them again.
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { withMeasured } from '../../scripts/figures/update.ts';
import { gainsTable } from '../../scripts/figures/gains.ts';
import { FOLDER, PICTURES } from '../../scripts/figures/pictures.ts';
import { PAGE, pageOf, readRuns, type Run } from '../../scripts/figures/results.ts';
import { pageWith } from './tables.ts';

test('bench/RESULTS.md shows every run', async () => {
  await expect(pageOf(readRuns())).toMatchFileSnapshot(PAGE);
});

test.each(Object.keys(PICTURES))('%s shows the figures', async (name) => {
  await expect(PICTURES[name]!()).toMatchFileSnapshot(join(FOLDER, name));
});

test('the table of gains in the README equals the results', async () => {
  const { path, text, placed } = pageWith('README.md', { gains: gainsTable() });
  expect(placed).toEqual(['gains']);
  await expect(text).toMatchFileSnapshot(path);
});

test('a run has its day, machine, threads, compiler and commit', () => {
  for (const { id, rows, ...run } of readRuns()) {
    expect(run.date).toMatch(/^\d{4}-\d\d-\d\d/);
    for (const text of [run.title, run.machine, run.threads, run.iree, run.commit, run.command])
      expect(text, id).not.toBe('');
    const columns = Object.keys(rows[0]!);
    for (const row of rows) expect(Object.keys(row), id).toEqual(columns);
  }
});

test('a new measurement replaces the rows of its models', () => {
  const run: Run = {
    ...{ id: 'onnx', title: '', command: '', date: '2026-01-01', machine: '', threads: '', iree: '' },
    ...{ commit: 'a', rows: [{ model: 'old' }, { model: 'net' }] },
  };
  const timing = { ratio: 2, seconds: [0.002, 0.001] } as const;
  const onnxRuntime = { tuned: { ratio: 0.5, seconds: [0.0005, 0.001] } } as const;
  const results = [
    { model: 'net', sameCode: false, verdict: { timing }, onnxRuntime },
    { model: 'broken', sameCode: null, verdict: null },
  ];
  const measured = { date: '2026-01-02T03:04:05Z', machine: { threads: 1 }, results };
  expect(withMeasured(run, measured, 'b')).toMatchObject({
    ...{ date: '2026-01-02', commit: 'b' },
    rows: [
      { model: 'old' },
      { 'ONNX Runtime ms': 0.5, 'stock ms': 2, 'tuned ms': 1, gain: 2, 'against ONNX Runtime': 0.5 },
    ],
  });
});
