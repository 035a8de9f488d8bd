// Laws of merging, each on 10,000 random cases.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  better,
  countingMarks,
  isMarked,
  isRevoked,
  joined,
  joinedUnder,
  nextGeneration,
} from '../../src/store/claim.ts';
import { candidateOf, decisionAmong } from '../../src/store/choose.ts';
import type { KeptMark, TuningRecord } from '../../src/store/store.ts';
import { claimOf, claims, keptMarks, markLineOf, ORIGIN, revocations } from './exchange/samples.ts';
import { DEFAULT_CONFIGURATION } from '../../src/backend/configuration.ts';
import { isFull } from '../support/needs.ts';
import { TILE } from './samples.ts';

const RUNS = { numRuns: isFull ? 10_000 : 500 };

describe('claims', () => {
  it('merge in any order and any number of times, even if some are revoked', () => {
    fc.assert(
      fc.property(
        claims(),
        claims(),
        claims(),
        fc.array(revocations, { maxLength: 2 }),
        (a, b, c, revoked) => {
          const join = (x: typeof a, y: typeof a) => joinedUnder(x, y, revoked);
          expect(join(a, b)).toEqual(join(b, a));
          expect(join(join(a, b), c)).toEqual(join(a, join(b, c)));
          expect(join(a, a)).toEqual(a);
          const isLive = [a, b].some((one) => !isRevoked(one, revoked));
          expect(isRevoked(join(a, b), revoked)).toBe(!isLive);
        },
      ),
      RUNS,
    );
  });

  it('are totally ordered', () => {
    fc.assert(
      fc.property(claims(), claims(), claims(), (a, b, c) => {
        expect(Math.sign(better(a, b))).toBe(-Math.sign(better(b, a)) + 0);
        if (better(a, b) >= 0 && better(b, c) >= 0) expect(better(a, c)).toBeGreaterThanOrEqual(0);
        expect(better(a, b) === 0).toBe(a.digest === b.digest);
      }),
      RUNS,
    );
  });

  it('keep the effort and the families of all', () => {
    fc.assert(
      fc.property(claims(), claims(), (a, b) => {
        const { families, trials, tuningSeconds } = joined(a, b).evidence;
        for (const { evidence } of [a, b]) {
          expect(families).toEqual(expect.arrayContaining([...evidence.families]));
          expect(trials).toBeGreaterThanOrEqual(evidence.trials);
          expect(tuningSeconds).toBeGreaterThanOrEqual(evidence.tuningSeconds);
        }
      }),
    );
  });

  it.each([
    ['later evidence', { version: 2 }, { version: 1, complete: true, processes: 9 }],
    [
      'more processes, whatever version the other one claims',
      { version: 2, processes: 9 },
      { version: 1000, processes: 3 },
    ],
    ['a complete search', { complete: true }, { complete: false, processes: 9 }],
    ['more processes', { processes: 6 }, { processes: 5, low: 1.82, repetitions: 99 }],
    ['more repetitions', { repetitions: 61 }, { repetitions: 60, low: 1.82 }],
    ['a surer gain', { low: 1.82 }, { low: 1.81 }],
  ])('are better with %s, at any time', (_, a, b) => {
    const [x, y] = [claimOf({ evidence: a, createdAt: '2020-01-01T00:00:00Z' }), claimOf({ evidence: b })];
    expect(better(x, y)).toBeGreaterThan(0);
    expect(better(y, x)).toBeLessThan(0);
  });

  it('have a digest of measurements and origin, without effort', () => {
    const { digest } = claimOf();
    expect(claimOf({ evidence: { trials: 1, tuningSeconds: 1, families: [] } }).digest).toBe(digest);
    for (const change of [
      { evidence: { low: 1.78 } },
      { machine: 'b' },
      { tool: 'b' },
      { createdBy: 'b' },
      { workload: 'b' },
      { configuration: DEFAULT_CONFIGURATION },
    ])
      expect(claimOf(change).digest).not.toBe(digest);
    // The digest is part of the exchange format.
    expect(digest).toBe('b1152ea448c1c71ec76b88c126f970097dca53103347c4e6b0b9a7ae7caab502');
  });
});

describe('the decision', () => {
  const recordOf = (claim: ReturnType<typeof claimOf>, failure: string | null): TuningRecord => ({
    ...claim,
    failure,
  });

  const decision = (records: readonly TuningRecord[]) => decisionAmong(records.map(candidateOf))!;

  it('does not depend on the order of claims, and has the effort of all', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(claims(), { selector: ({ digest }) => digest, minLength: 1, maxLength: 5 }),
        fc.nat(),
        (all, marked) => {
          const records = all.map((claim, i) => recordOf(claim, i === marked % 8 ? 'slower: so' : null));
          const found = decision(records);
          expect(decision(records.toReversed())).toEqual(found);
          const isUsable = ({ failure, evidence }: TuningRecord) => failure === null && evidence.low > 1;
          if (records.some(isUsable)) expect(isUsable(found)).toBe(true);
          const { alternative } = found;
          expect(alternative === undefined || isUsable(alternative)).toBe(true);
          for (const { evidence } of records)
            expect(found.evidence.families).toEqual(expect.arrayContaining([...evidence.families]));
        },
      ),
      RUNS,
    );
  });

  const sure = claimOf({ evidence: { low: 1.7 } });
  const surer = claimOf({ configuration: { ...TILE, peeling: false }, evidence: { low: 1.8 } });
  const uncertain = claimOf({ evidence: { low: 0.99 } });
  const none = claimOf({ configuration: DEFAULT_CONFIGURATION, evidence: { ratio: 1, low: 1, high: 1 } });
  it.each([
    ['the surest gain', [none, sure, surer], null, surer],
    ['the default if no gain is certain', [uncertain, none], null, none],
    ['the default if the gain has a mark', [sure, none], sure, none],
    ['a gain with a mark if there is nothing else', [sure], sure, sure],
  ])('is %s', (_, claimed, marked, expected) => {
    const records = claimed.map((claim) => recordOf(claim, claim === marked ? 'slower: so' : null));
    expect(decision(records)).toMatchObject({ configuration: expected.configuration });
  });
});

describe('marks', () => {
  it('count independently of their order', () => {
    const marks = fc.array(keptMarks(fc.constant(TILE)), { maxLength: 5 });
    fc.assert(
      fc.property(marks, (all) => {
        expect(isMarked(all)).toBe(isMarked(all.toReversed()));
        expect(isMarked([...all, ...all])).toBe(isMarked(all));
      }),
      RUNS,
    );
  });

  const mark = (change: Partial<KeptMark>) => markLineOf(change);
  it.each<[string, readonly Partial<KeptMark>[], boolean]>([
    ['nothing', [], false],
    ['a compile that failed', [{ kind: 'compile-error' }], true],
    ['a wrong result', [{ kind: 'wrong-result' }], true],
    ['a program that was slower', [{ kind: 'slower' }], false],
    ['two programs of one machine', [{ kind: 'slower' }, { kind: 'slower', tool: '9' }], false],
    ['programs of two machines', [{ kind: 'slower' }, { kind: 'slower', machine: 'other' }], true],
    ['a lifted mark', [{ kind: 'compile-error' }, { kind: 'lifted', generation: 1 }], false],
    [
      'a failure after a lifted mark',
      [
        { kind: 'lifted', generation: 1 },
        { kind: 'compile-error', generation: 1 },
      ],
      true,
    ],
    [
      'two slower programs, one of them before a lifted mark',
      [
        { kind: 'slower', machine: 'other' },
        { kind: 'lifted', generation: 1 },
        { kind: 'slower', generation: 1 },
      ],
      false,
    ],
  ])('forbid or allow their configuration: %s', (_, marks, expected) => {
    expect(isMarked(marks.map(mark))).toBe(expected);
  });

  it('of the kind slower count for their own origin', () => {
    const slower = mark({ kind: 'slower' });
    expect(countingMarks([slower], ORIGIN)).toEqual([slower]);
    expect(countingMarks([slower], { ...ORIGIN, machine: 'other' })).toEqual([]);
  });

  it('belong to the latest generation, and lifted opens the next', () => {
    expect(nextGeneration([], 'slower')).toBe(0);
    expect(nextGeneration([], 'lifted')).toBe(1);
    expect(nextGeneration([mark({ generation: 3 }), mark({})], 'slower')).toBe(3);
    expect(nextGeneration([mark({ generation: 3 }), mark({})], 'lifted')).toBe(4);
  });
});
