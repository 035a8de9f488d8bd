// Files of a benchmark, valid and invalid.
import { expect, test } from 'vitest';
import { readModels } from '../../../src/report/html/bench-models.ts';

const ABOUT = {
  ...{ version: 1, date: '2026-05-20T08:00:00.000Z', machine: { key: 'a CPU threads=1', cores: 2 } },
  versions: { iree: { key: '3.13.0@0123456789' }, node: 'v24' },
};
const RESULT = {
  ...{ model: 'm', state: 'compiled by both', reason: null, sameCode: false, agreements: [], dispatches: [] },
  verdict: {
    equal: true,
    maxError: 0,
    reason: null,
    timing: { ratio: 2, low: 1.9, high: 2.1, seconds: [2, 1] },
  },
  coverage: {
    contractions: 0.9,
    decided: 0.8,
    applied: 0.7,
    left: [{ reason: 'r', share: 0.1, dispatches: [] }],
  },
};
const models = (change: object = {}) => JSON.stringify({ ...ABOUT, results: [{ ...RESULT, ...change }] });

test('the results of models are read without the parts that a page does not show', () => {
  expect(readModels(models(), 'm.json')).toEqual({
    ...{ version: 1, machine: { key: 'a CPU threads=1' } },
    results: [
      {
        ...{ model: 'm', state: 'compiled by both', reason: null, sameCode: false },
        verdict: { equal: true, timing: RESULT.verdict.timing },
        coverage: {
          ...{ contractions: 0.9, decided: 0.8, applied: 0.7 },
          left: [{ reason: 'r', share: 0.1 }],
        },
      },
    ],
  });
});

test('models can lack compiles, runs or times', () => {
  const change = { verdict: null, coverage: null, reason: 'error: x' };
  expect(readModels(models(change), 'm.json').results).toMatchObject([change]);
});

test.each([
  ['no JSON', '{', 'm.json is not JSON'],
  ['of another script', '{"version":1}', 'm.json: machine'],
  ['of another version', models().replace('"version":1', '"version":2'), 'm.json: version'],
  [
    'with a share above 1',
    models({ coverage: { ...RESULT.coverage, applied: 1.5 } }),
    'm.json: results.0.coverage.applied',
  ],
])('a file %s is refused with the command that writes it', (_, text, message) => {
  expect(() => readModels(text, 'm.json')).toThrow(message);
  expect(() => readModels(text, 'm.json')).toThrow('npm run bench:models -- --json FILE');
});
