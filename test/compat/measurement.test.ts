import { expect, test } from 'vitest';
import { DEFAULT_CONFIGURATION } from '../../src/backend/configuration.ts';
import { DATA_TILE_CONFIGURATION } from '../../src/backend/llvm-cpu/configuration.ts';
import { allOf, configurationName, dispatchName, measurementsOf } from '../../src/compat/measurement.ts';
import type { Trial } from '../../src/store/store.ts';
import { EVIDENCE } from '../store/samples.ts';
import { matmul } from '../support/workloads.ts';
import { measurement, PACKED, TILED } from './samples.ts';

const { operation, workload, place } = measurement(matmul(64, 64, 64));
const about = { operation, workload, place };
const trial = (of: Partial<Trial>): Trial => ({
  ...{ configuration: TILED, outcome: 'measured', seconds: 2, ratio: 2, message: null, strategy: 'grid' },
  ...of,
});

test('the decision is the best, with its evidence, and comes last', () => {
  const other = { ...TILED, peeling: false };
  const all = measurementsOf(about, { configuration: TILED, evidence: EVIDENCE }, [
    trial({ configuration: DEFAULT_CONFIGURATION, seconds: 4, ratio: 1 }),
    trial({ seconds: 9 }),
    trial({ configuration: other, seconds: 5, ratio: 0.5 }),
    // A repeated trial.
    trial({ configuration: other, seconds: 3, ratio: 1.5 }),
    trial({ configuration: PACKED, outcome: 'compile-error', seconds: null, ratio: null, message: 'no' }),
  ]);
  const inOrder = [DEFAULT_CONFIGURATION, PACKED, other, TILED];
  expect(allOf(all).map(({ configuration }) => configuration)).toEqual(inOrder);
  const { seconds, ratio, defaultSeconds } = EVIDENCE;
  expect(all.best).toMatchObject({ seconds, ratio, verification: 'SUCCESS' });
  expect(all.stock).toMatchObject({ seconds: defaultSeconds, verification: 'Not verified' });
  expect(all.others[0]).toMatchObject({ seconds: 3, verification: 'Not verified' });
});

test('without a decision there is no best, and the default has its measured time', () => {
  const timed = trial({ configuration: DEFAULT_CONFIGURATION, seconds: 4, ratio: 1 });
  expect(measurementsOf(about, null, [timed])).toMatchObject({
    stock: { seconds: 4 },
    others: [],
    best: null,
  });
  expect(measurementsOf(about, null, []).stock).toMatchObject({ seconds: null, ratio: null });
  const wrong = trial({ outcome: 'wrong-result', seconds: null, ratio: null });
  expect(measurementsOf(about, null, [wrong]).others[0]!.verification).toBe('FAILED');
});

test('names of configurations are single, unique words', () => {
  const others = [{ ...TILED, peeling: false }, DATA_TILE_CONFIGURATION];
  const names = [DEFAULT_CONFIGURATION, TILED, PACKED, ...others].map(configurationName);
  expect(new Set(names).size).toBe(names.length);
  for (const name of names) expect(name).toMatch(/^tile_config_[\w-]+$/);
  expect(dispatchName(measurement(matmul(1, 2, 3), { configuration: DEFAULT_CONFIGURATION }))).toBe(
    'matmul_1x2x3_f32t_f32t_f32t_tile_config_default',
  );
});
