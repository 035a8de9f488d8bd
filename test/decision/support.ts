// Lookups in a database in a temporary folder, without a compiler.
import type { Configuration } from '../../src/backend/configuration.ts';
import { lookUp } from '../../src/decision/look-up.ts';
import type { Evidence, Store } from '../../src/store/store.ts';
import { subjectOf } from '../../src/store/subject.ts';
import type { Site } from '../../src/site/site.ts';
import { because } from '../../src/system/reason.ts';
import { DECISION, EVIDENCE, open, temporaryPath, TILE } from '../store/support.ts';
import { inputOf, keyOfMatmul, matmulText, siteOf } from '../support/inspected.ts';
import { matmul } from '../support/workloads.ts';

export const [here, there] = [siteOf(), siteOf({ deviceKey: 'another CPU local-sync threads=1' })];
export const settings = { inject: 'auto', budgetSeconds: 60, trust: 'device' } as const;
export const DEFAULT = { version: 1, kind: 'default' } as const;

/** Evidence of a default without a faster configuration. */
export const NO_GAIN = { ratio: 1, low: 1, high: 1 };

/** Matmuls of m x 512 x 512. */
export const input = (...sizes: number[]) => inputOf(sizes.map((m) => matmulText(m, 512, 512)).join(''));
export const keyOf = (m: number) => keyOfMatmul(m, 512, 512);
export const aboutMatmul = (m: number, site: Site = here) =>
  subjectOf({ key: keyOf(m), workload: matmul(m, 512, 512) }, site);

interface Recorded {
  readonly site?: Site;
  readonly evidence?: Partial<Evidence>;
  readonly configuration?: Configuration;
}

export function putRecord(
  store: Store,
  m: number,
  { site = here, evidence = {}, configuration = TILE }: Recorded = {},
): void {
  store.putRecord(aboutMatmul(m, site), {
    ...DECISION,
    configuration,
    evidence: { ...EVIDENCE, ...evidence },
  });
}

/** A new database with records, by the size of their matmul. */
export function storeWith(...records: readonly (readonly [m: number, recorded?: Recorded])[]): Store {
  const store = open(temporaryPath());
  for (const [m, recorded] of records) putRecord(store, m, recorded);
  return store;
}

/** Decisions without tuning since the lookup. */
export const decided = (store: Store | null, sizes: readonly number[], site: Site = here) =>
  lookUp(store, input(...sizes), site, settings)
    .decide(new Map(), because('no-record', 'nobody tunes'))
    .map(({ outcome, reason }) => ({ outcome, reason }));

export const hit = { outcome: 'hit', reason: '1.83x faster than the default' };
export const missed = { outcome: 'default', reason: 'nobody tunes' };
