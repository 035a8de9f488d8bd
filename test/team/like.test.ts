// @module-tag slow
// Trials of similar workloads on a team's server.
import { describe, expect, test } from 'vitest';
import { workloadKey, type OperationWork } from '../../src/workload/workload.ts';
import { isWithout } from '../support/needs.ts';
import { whyNoPostgres } from '../support/postgres.ts';
import { matmul } from '../support/workloads.ts';
import { clientAs, given, LONG, partsOf, SUBJECT, teamDatabase, TILE, trialOf } from './support.ts';

const PROCESSOR = {
  ...{ architecture: 'x64', vendor: 'AuthenticAMD', family: 26, model: 68 },
  ...{ threadsPerCore: 2, caches: [] },
};
const deviceForm = (threads: number) => ({
  ...{ model: 'a CPU', driver: 'local-task', threads, cachesKiB: [], processor: PROCESSOR },
});

const about = (workloadForm: OperationWork, change: Partial<typeof SUBJECT> = {}) => ({
  ...{ ...SUBJECT, workload: workloadKey(workloadForm), workloadForm, deviceForm: deviceForm(8) },
  ...change,
});

const OWN = about(matmul(512, 512, 512));

describe.skipIf(isWithout(whyNoPostgres))('trials of similar workloads', () => {
  test('come nearest first, then fastest first, from similar compilers and devices', async () => {
    const database = await teamDatabase();
    const worker = await clientAs(database, 'worker');
    let n = 0;
    const push = async (subject: typeof OWN, ...ratios: readonly number[]) => {
      const { workload, target, device, compiler } = subject;
      const trials = ratios.map((ratio) => {
        const configuration = { ...TILE, distribution: [++n, 128, 0] };
        return trialOf(n, { workload, target, device, compiler, configuration, ratio });
      });
      const sent = await given(worker.push([...partsOf(subject), ...trials], LONG));
      expect(sent).toMatchObject({ changed: { trials: ratios.length }, refused: {} });
    };
    await push(OWN, 9);
    await push(about(matmul(512, 512, 1024)), 1.5, 2);
    await push(about(matmul(500, 512, 512)), 2);
    await push(about(matmul(500, 512, 512, ['f16', 'f16', 'f32'])), 2);
    await push(about(matmul(500, 512, 512), { target: 'another target' }), 2);
    await push(about(matmul(512, 512, 512), { compiler: 'iree 3.10.0' }), 2);
    await push(about(matmul(512, 512, 512), { device: 'a sibling' }), 2);
    await push(about(matmul(512, 512, 512), { device: 'a stranger', deviceForm: deviceForm(2) }), 2);
    const reader = await clientAs(database, 'reader');
    const found = await given(reader.trialsLike(OWN, LONG));
    expect(
      found.map(({ workload, device, compiler, distance, trials }) => [
        workload.dimensions.map(({ size }) => size).join('x'),
        ...[device === OWN.device, compiler === OWN.compiler, Number(distance.toFixed(2))],
        trials.map(({ ratio }) => ratio),
      ]),
    ).toEqual([
      ['500x512x512', true, true, 0.03, [2]],
      ['512x512x512', true, false, 0.25, [2]],
      ['512x512x512', false, true, 0.5, [2]],
      ['512x512x1024', true, true, 1, [2, 1.5]],
    ]);
    // The server has no trials of this structure.
    const other = about(matmul(512, 512, 512, ['bf16', 'bf16', 'f32']));
    expect(await given(reader.trialsLike(other, LONG))).toEqual([]);
  });
});
