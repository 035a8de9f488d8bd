// Decisions by a lock file.
import { expect, test } from 'vitest';
import { decideAll, overrideOf } from '../../../src/decision/lock/find.ts';
import type { LockedWorkload } from '../../../src/decision/lock/lock.ts';
import { TILE } from '../../store/samples.ts';
import { inputOf, keyOfMatmul, matmulText } from '../../support/inspected.ts';
import { DEFAULT_RECORD, LEFT_OUT, RECORD, UNKNOWN } from './support.ts';
import { because } from '../../../src/system/reason.ts';

const keyOf = (m: number) => keyOfMatmul(m, 512, 512);
const { operations } = inputOf(
  [8, 16, 24, 32, 40, 48, '?' as const].map((m) => matmulText(m, 512, 512)).join(''),
);

test('operations get their locked configuration, and an invalid one is not locked', () => {
  const narrow = { ...TILE, distribution: [8, 8], vectorCommonParallel: [8, 8], vectorReduction: [0, 0] };
  const override = overrideOf(
    new Map<string, LockedWorkload>([
      [keyOf(8), RECORD],
      [keyOf(16), DEFAULT_RECORD],
      [keyOf(24), LEFT_OUT],
      [keyOf(32), UNKNOWN],
      [keyOf(40), { ...RECORD, configuration: narrow }],
    ]),
  );
  const decisions = decideAll(operations, override, because('frozen', 'nobody knows'));
  expect(decisions.map(({ outcome, reason }) => `${outcome}: ${reason}`)).toEqual([
    'hit: locked: 1.83x faster than the default',
    'hit: locked: the default is best',
    'default: locked: its configuration makes this program worse',
    'default: locked: there was no record',
    'default: nobody knows',
    'default: nobody knows',
    expect.stringMatching(/^skipped: .*dynamic/) as string,
  ]);
  expect(decisions.map(({ configuration }) => configuration)).toEqual([
    TILE,
    { version: 1, kind: 'default' },
    ...Array<null>(5).fill(null),
  ]);
  expect(decisions[0]).toMatchObject({ evidence: null, record: null, speedup: RECORD.speedup });
});
