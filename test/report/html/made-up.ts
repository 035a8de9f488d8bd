// A synthetic database of a team, of any size. Equal sizes give equal databases.
import { DEFAULT_CONFIGURATION, type Configuration } from '../../../src/backend/configuration.ts';
import type { Device } from '../../../src/backend/device.ts';
import type { PageAssets } from '../../../src/report/html/page.ts';
import { pageDataOf, type ReportSource } from '../../../src/report/html/model.ts';
import { lossOf, NO_RATES, type DeviceRates } from '../../../src/report/loss.ts';
import type { PageData } from '../../../src/report/html/data.ts';
import type { RecordKey, TuningRecord } from '../../../src/store/store.ts';
import { keysOf } from '../../../src/store/subject.ts';
import { workloadFlops, workloadKey, type OperationWork } from '../../../src/workload/workload.ts';
import { TILE } from '../../store/samples.ts';
import { matmul, workload } from '../../support/workloads.ts';

/** Reproducible random numbers from 0 to 1. */
function dice(seed: number): () => number {
  let state = seed || 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
}

const DEVICES = [
  device('AMD EPYC 9B14 96-Core Processor (family 25 model 17 stepping 1)', 1, 'prod-zen4', 118),
  device('Intel(R) Xeon(R) Platinum 8481C CPU @ 2.70GHz (family 6 model 143 stepping 8)', 8, null, 1450),
  device('Neoverse-V2', 4, 'graviton', 340),
];

function device(model: string, threads: number, name: string | null, peak: number) {
  const driver = threads === 1 ? 'local-sync' : 'local-task';
  const form: Device = { model, driver, threads, cachesKiB: [32, 1024, 32768] };
  return { key: `${model} ${driver} threads=${threads} caches=32/1024/32768K`, name, form, peak };
}

const COMPILERS = ['3.11.0@2c4de1f9a0', '3.12.0@77ab01c3de', '3.13.0@9e1f0a4b2c'];
const SIZES = [
  16, 17, 24, 32, 48, 64, 96, 100, 127, 128, 192, 255, 256, 320, 384, 500, 511, 512, 640, 768, 997, 1000,
  1024, 1152, 1536, 2048, 2304, 3072, 4096,
];

function workloadOf(roll: () => number): OperationWork {
  const size = () => SIZES[Math.floor(roll() * SIZES.length)]!;
  const kind = roll();
  if (kind < 0.15) return matmul(1, size(), size());
  if (kind < 0.25) return workload({ m: size(), k: size() });
  if (kind < 0.35)
    return workload({
      batch: [4, 8, 12, 16][Math.floor(roll() * 4)]!,
      m: Math.min(512, size()),
      n: 64,
      k: Math.min(512, size()),
    });
  if (kind < 0.45) return matmul(size(), size(), size(), ['f16', 'f16', 'f32']);
  if (kind < 0.5) return matmul(size(), size(), size(), ['i8', 'i8', 'i32']);
  return { ...matmul(Math.ceil(roll() * 16) > 12 ? 4 : size(), size(), size()), constantRhs: roll() < 0.5 };
}

function configurationOf(roll: () => number, rank: number): Configuration {
  if (roll() < 0.2) return { version: 1, kind: 'data-tile' };
  const pick = () => [8, 16, 32, 64, 128, 256][Math.floor(roll() * 6)]!;
  const tile = (last: number) => [...Array.from({ length: rank - 1 }, pick), last];
  return {
    ...TILE,
    distribution: tile(0),
    vectorCommonParallel: tile(0),
    vectorReduction: [...Array<number>(rank - 1).fill(0), pick()],
    peeling: roll() < 0.5,
  };
}

/** `count` records of fewer workloads: some have several devices and compilers. */
export function madeUp(count: number, change: Partial<ReportSource> = {}): ReportSource {
  const roll = dice(7);
  const records: TuningRecord[] = [];
  const works = new Map<string, OperationWork>();
  const keyOf = (key: RecordKey) => JSON.stringify(keysOf(key));
  while (records.length < count) {
    const work = workloadOf(roll);
    const { key: device, peak } = DEVICES[Math.floor(roll() ** 2 * DEVICES.length)]!;
    const compilers = roll() < 0.3 ? COMPILERS.slice(Math.floor(roll() * 2)) : [COMPILERS[2]!];
    for (const compiler of compilers) {
      const target = 'llvm-cpu x86_64-unknown-linux-gnu znver4 features=4f1b2a90cd';
      const key = { workload: workloadKey(work), target, device, compiler };
      if (works.has(keyOf(key)) || records.length === count) continue;
      works.set(keyOf(key), work);
      records.push(recordOf(key, work, peak, roll));
    }
  }
  return {
    records: records.toSorted((a, b) => (a.createdAt < b.createdAt ? 1 : -1)),
    devices: DEVICES.map(({ key, form, name }) => ({ key, form, name })),
    workOf: (key) => works.get(keyOf(key)),
    ...{ ratesOf, losses: [] },
    about: {
      database: '/home/a user/.local/share/iree-tuned/tuning.db',
      written: '2026-06-01T09:30:00.000Z',
      tool: '0.1.0',
      filter: '',
    },
    ...change,
  };
}

function recordOf(key: RecordKey, work: OperationWork, peak: number, roll: () => number): TuningRecord {
  const flops = workloadFlops(work);
  const isOdd = /=\d*[13579]\b/.test(key.workload) && !/m=1 /.test(key.workload);
  const isVector = !/ n=/.test(key.workload) || / m=1 /.test(key.workload);
  const seconds = (flops / (peak * 1e9)) * (isVector ? 12 : 1.05 + roll()) + 2e-6;
  const isDefault = roll() < 0.3;
  const ratio = isDefault ? 1 : 1.05 + roll() ** 3 * (isOdd ? 45 : isVector ? 6 : 2.5);
  const width = 0.004 + roll() * 0.03;
  const configuration = isDefault ? DEFAULT_CONFIGURATION : configurationOf(roll, work.dimensions.length);
  const digits = (value: number) => Number(value.toPrecision(6));
  return {
    ...key,
    configuration,
    evidence: {
      ratio: digits(ratio),
      low: digits(isDefault ? 1 : Math.max(1.01, ratio * (1 - width))),
      high: digits(isDefault ? 1 : ratio * (1 + width)),
      defaultSeconds: digits(seconds * ratio),
      seconds: digits(seconds),
      ...{ processes: 10, repetitions: 60, noiseFloor: 0.01, maxError: 0 },
      trials: 40 + Math.floor(roll() * 120),
      tuningSeconds: digits(8 + roll() * 24),
      families: ['data-tile', 'tile'],
      complete: roll() > 0.05,
    },
    failure: !isDefault && roll() < 0.01 ? 'compile-error: in.mlir:2:3: error: out of registers' : null,
    createdAt: new Date(Date.UTC(2026, 3, 1) + Math.floor(roll() * 60 * 24 * 60) * 60_000).toISOString(),
    ...{ createdBy: ['ada', 'grace', 'kay'][Math.floor(roll() * 3)]!, machine: 'build-7', tool: '0.1.0' },
    digest: 'f'.repeat(64),
  };
}

/** Only the first device was profiled. */
function ratesOf({ device }: { readonly device: string }): DeviceRates {
  const { key, peak } = DEVICES[0]!;
  if (device !== key) return NO_RATES;
  const cache = { bytes: 2 ** 20, bytesPerSecond: 45e9 };
  return { bytesPerSecond: 22e9, cache, multiplicationsPerSecond: { f32: (peak * 1e9) / 2 } };
}

export const dataOf = (count: number, change: Partial<ReportSource> = {}): PageData =>
  pageDataOf(madeUp(count, change));

/** Assets for tests of the text alone. */
export const NO_ASSETS: PageAssets = { script: 'void 0', style: '' };

/** A timed program with a dispatch that has a bound, and one without. */
export const LOSSES: ReportSource['losses'] = [
  {
    ...{ name: 'model.mlir', target: 'llvm-cpu x', device: 'a device', compiler: '3.13.0@abc' },
    loss: lossOf(
      [
        {
          ...{ dispatch: 'main_dispatch_0_softmax_6xf32', seconds: 2e-3, calls: 1 },
          amount: { multiplications: 1e6, type: 'f32', bytes: 8 },
        },
        { dispatch: 'main_dispatch_1_generic_6xf32', seconds: 1e-3, calls: 1, amount: null },
      ],
      5e-3,
      { bytesPerSecond: 1e9, cache: null, multiplicationsPerSecond: { f32: 1e9 } },
    )!,
  },
];
