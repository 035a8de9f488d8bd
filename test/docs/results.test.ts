// bench/RESULTS.md, the pictures and the README show the figures of bench/results.json. `npx vitest run test/docs/results.test.ts -u`
// writes them again.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { taken, type Measured } from '../../scripts/figures/benches.ts';
import { withMeasured } from '../../scripts/figures/update.ts';
import { gainsTable, zooTable } from '../../scripts/figures/gains.ts';
import { FOLDER, PICTURES } from '../../scripts/figures/pictures.ts';
import { PAGE, pageOf, readRuns, type Run } from '../../scripts/figures/results.ts';
import { pageWith } from './tables.ts';

test('bench/RESULTS.md shows every run', async () => {
  await expect(pageOf(readRuns())).toMatchFileSnapshot(PAGE);
});

test.each(Object.keys(PICTURES))('%s shows the figures', async (name) => {
  await expect(PICTURES[name]!()).toMatchFileSnapshot(join(FOLDER, name));
});

test('the tables of gains in the README equal the results', async () => {
  const { path, text, placed } = pageWith('README.md', { gains: gainsTable(), zoo: zooTable() });
  expect(placed).toEqual(['zoo', 'gains']);
  await expect(text).toMatchFileSnapshot(path);
});

test('a gain in the text of the README is a result', () => {
  const { path } = pageWith('README.md', {});
  const prose = readFileSync(path, 'utf8').replaceAll(/^```[^]*?^```$/gm, '');
  const results = readFileSync(PAGE, 'utf8');
  const gains = [...prose.matchAll(/\b(\d+(?:\.\d+)?)x(?![\dm-z])/g)].map(([, gain]) => gain!);
  expect(gains).not.toEqual([]);
  expect(gains.filter((gain) => !results.includes(`| ${gain} |`))).toEqual([]);
});

test('a run has its day, machine, threads, compiler and commit', () => {
  for (const { id, rows, ...run } of readRuns().filter(({ rows: all }) => all.length > 0)) {
    expect(run.date).toMatch(/^\d{4}-\d\d-\d\d/);
    for (const text of [run.title, run.machine, run.threads, run.iree, run.commit, run.command])
      expect(text, id).not.toBe('');
    const columns = Object.keys(rows[0]!);
    for (const row of rows) expect(Object.keys(row), id).toEqual(columns);
  }
});

const run: Run = {
  ...{ id: '', title: '', command: 'npm run bench:x', date: '2026-01-01', machine: 'old', threads: '8' },
  ...{ iree: '', commit: 'a', rows: [{ model: 'old' }, { model: 'net' }] },
};
const date = '2026-01-02T03:04:05Z';
const machine = { model: 'CPU', driver: 'local-sync', threads: 1, cores: 2 };

/** @param json has only the fields that the rows show */
const withAll = (json: object) =>
  taken(json as Measured).map((one) => ({ ...withMeasured(run, one, date, 'b'), id: one.id }));

test('a new measurement replaces the rows of its models', () => {
  const timing = { ratio: 2, seconds: [0.002, 0.001] } as const;
  const results = [
    { model: 'net', sameCode: false, verdict: { timing } },
    { model: 'broken', sameCode: false, verdict: null },
  ];
  expect(withAll({ date, machine, bench: 'models', results })).toEqual([
    {
      ...{ ...run, id: 'models', date: '2026-01-02', commit: 'b' },
      rows: [{ model: 'old' }, { model: 'net', 'stock ms': 2, 'tuned ms': 1, gain: 2 }],
    },
  ]);
});

test('the zoo keeps the rows of models that were not measured again, and light models have a run of their own', () => {
  const seconds = { stock: 0.004, best: 0.003, tuned: 0.002, onnxRuntime: 0.001 };
  const gains = {
    stock: { ratio: 2 },
    best: { ratio: 1.5 },
    tuned: { ratio: 1 },
    onnxRuntime: { ratio: 0.5 },
  };
  const results = [
    { model: 'net', seconds, gains },
    { model: 'light:small', seconds, gains },
    { model: 'broken', seconds: {}, gains: {} },
  ];
  const [zoo, light, ...rest] = withAll({ date, machine, bench: 'zoo', results });
  expect([zoo?.id, light?.id, rest]).toEqual(['zoo', 'light', []]);
  expect(zoo?.rows).toEqual([
    { model: 'old' },
    {
      ...{ model: 'net', 'ONNX Runtime ms': 1, 'OpenVINO ms': '-' },
      ...{ 'stock ms': 4, 'best of stock ms': 3, 'tuned ms': 2, gain: 2, 'against the best of stock': 1.5 },
      ...{ 'against ONNX Runtime': 0.5, 'against OpenVINO': '-' },
    },
  ]);
  const { rows } = readRuns().find(({ id }) => id === 'light')!;
  expect(Object.keys(light!.rows[2]!)).toEqual(Object.keys(rows[0]!));
  expect(light!.rows[2]).toEqual({
    ...{ model: 'small', 'ONNX Runtime ms': 1, 'stock ms': 4, 'tuned ms': 2 },
    ...{ gain: 2, 'against ONNX Runtime': 0.5 },
  });
});

const searched = [['guided', [{ shares: [0.9, 1] }, { shares: [0.8] }]]] as const;

test.each<[string, object, object]>([
  [
    'overhead',
    {
      ...{ date, machine, bench: 'overhead' },
      results: [{ input: '4x4x4', what: 'hit', medianMs: 12.34, overElfMs: null, ofPip: 0.9 }],
    },
    { input: '4x4x4', run: 'hit', ms: 12.3, 'ms over ELF': '-', "of pip's script": 0.9 },
  ],
  [
    'kernels',
    {
      ...{ date, machine, bench: 'kernels' },
      results: [
        {
          ...{ shape: { name: '4x4x4' }, gflops: { tuned: 100.4 } },
          gains: { stock: { ratio: 2 }, openblas: { ratio: 0.9 } },
        },
      ],
    },
    {
      ...{ shape: '4x4x4', 'tuned GFLOP/s': 100, gain: 2, 'against data tiling': '-' },
      ...{ 'against OpenBLAS': 0.9, 'against MKL': '-' },
    },
  ],
  [
    'decisions',
    {
      ...{ date, machine, bench: 'decisions', cloned: [{ shape: '4x4x4', finals: 10, claims: 1 }] },
      repeated: [{ shape: '4x4x4', speeds: [1.5, 2], asGood: 1 }],
    },
    {
      ...{ shape: '4x4x4', 'false gains among clones': '1 of 10' },
      ...{ 'tunings within 3% of the best': '1 of 2', 'best gain': 2 },
    },
  ],
  [
    'vulkan',
    {
      ...{
        date,
        machine,
        bench: 'gpu',
        target: 'vulkan',
        device: { model: 'CPU', gpu: { isSoftware: true } },
      },
      results: [{ name: '64', ratio: 2, seconds: [0.002, 0.001], cublasSeconds: null }],
    },
    { case: '64', 'stock ms': 2, 'tuned ms': 1, gain: 2 },
  ],
  [
    'gpu-cuda',
    {
      ...{ date, machine, bench: 'gpu', target: 'cuda', device: { model: 'GPU' } },
      results: [{ name: '64', ratio: 2, seconds: [0.002, 0.001], cublasSeconds: 0.003 }],
    },
    { case: '64', 'stock ms': 2, 'tuned ms': 1, gain: 2, 'cuBLAS ms': 3 },
  ],
  [
    'misses',
    { date, machine, bench: 'misses', results: [{ shape: '4x4x4', seconds: 9.876, gain: 1.5 }] },
    { shape: '4x4x4', seconds: 9.88, gain: 1.5 },
  ],
  [
    'search',
    { date, machine, bench: 'search', results: [{ name: 'f32', untimed: [0.6, 0.8], searched }] },
    {
      ...{ matmuls: 'f32', strategy: 'guided', 'no trial': '70.0%' },
      ...{ 'after 12 trials': '85.0%', 'worst tenth after 12': '80.0%' },
      ...{ 'after 24 trials': '90.0%', 'worst tenth after 24': '80.0%' },
      ...{ 'after 48 trials': '90.0%', 'worst tenth after 48': '80.0%' },
    },
  ],
])('the JSON of %s replaces all rows of its run, with the machine', (id, measured, row) => {
  expect(readRuns().map((one) => one.id)).toContain(id);
  const [now] = withAll(measured);
  expect(now).toMatchObject({ id, rows: [row] });
  expect(now!.machine).not.toBe('old');
});

test('a run without rows was not run', () => {
  expect(pageOf([{ ...run, rows: [] }])).toContain('Not run. `npm run bench:x` measures it.');
});
