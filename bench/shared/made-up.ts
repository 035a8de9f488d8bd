// Made-up records for the benches of stores, and the times of look-ups.
import { CONFIDENCE, digestOf, EVIDENCE_VERSION } from '../../src/store/claim.ts';
import { workloadKey } from '../../src/workload/workload.ts';
import { matmul } from '../../test/support/workloads.ts';

export const PLACE = { target: 'llvm-cpu bench', device: 'a bench', compiler: '3.13.0@bench' };
/** The form of a target, a device or a compiler. */
export const FORM = { bench: true };
export const ORIGIN = {
  ...{ createdAt: '2026-01-01T00:00:00.000Z', createdBy: 'a bench' },
  ...{ machine: 'a bench', tool: '0.0.0' },
};

/** A workload for each number from 0. */
export const workloadOf = (n: number) => matmul(1 + (n % 10_000), 1 + Math.floor(n / 10_000), 512);
export const subjectOf = (n: number) => ({ workload: workloadKey(workloadOf(n)), ...PLACE });

export const configurationOf = (n: number) => ({
  version: 1 as const,
  kind: 'tile' as const,
  distribution: [(n % 512) + 1, 128, 0],
  vectorCommonParallel: [8, 32, 0],
  vectorReduction: [0, 0, 1],
  peeling: n % 2 === 0,
});

export const EVIDENCE = {
  ...{ version: EVIDENCE_VERSION, confidence: CONFIDENCE, ratio: 1.5, low: 1.4, high: 1.6 },
  ...{ defaultSeconds: 0.003, seconds: 0.002, processes: 8, repetitions: 80, noiseFloor: 0.01, maxError: 0 },
  ...{ trials: 200, tuningSeconds: 30, families: ['data-tile', 'tile'], complete: true },
};

export function claimOf(n: number) {
  const claim = { ...subjectOf(n), configuration: configurationOf(n), evidence: EVIDENCE, ...ORIGIN };
  return { ...claim, digest: digestOf(claim) };
}

/** Milliseconds of an action. */
export async function timed(action: () => unknown): Promise<number> {
  const begun = performance.now();
  await action();
  return performance.now() - begun;
}

/** Cells with the median and the 99th percentile. */
export const percentiles = (milliseconds: readonly number[]): string[] =>
  [0.5, 0.99].map((q) => {
    const at = Math.min(milliseconds.length - 1, Math.floor(q * milliseconds.length));
    return `${milliseconds.toSorted((a, b) => a - b)[at]!.toFixed(2)} ms`;
  });
