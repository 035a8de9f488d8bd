// Sample lines, and generators of random lines about few subjects.
import fc from 'fast-check';
import { DEFAULT_CONFIGURATION, type Configuration } from '../../../src/backend/configuration.ts';
import { digestOf } from '../../../src/store/claim.ts';
import type { Exchange } from '../../../src/store/exchange/exchange.ts';
import type {
  Line,
  ClaimLine,
  MarkLine,
  NoteLine,
  PartLine,
  RevocationLine,
  TrialLine,
} from '../../../src/store/exchange/lines.ts';
import { readValue } from '../../../src/store/exchange/read.ts';
import type { Claim, KeptMark, Origin, Revocation, Run } from '../../../src/store/store.ts';
import { keysOf } from '../../../src/store/subject.ts';
import { EVIDENCE, MARK, RUN, SUBJECT, TILE, subjectOf } from '../samples.ts';

export const ORIGIN: Origin = { createdBy: 'a tester', machine: 'a machine', tool: '0.1.0' };
export const KEY = keysOf(SUBJECT);

/** A claim with its digest. */
export function claimOf({
  evidence,
  ...change
}: Partial<Omit<Claim, 'evidence' | 'digest'>> & {
  readonly evidence?: Partial<Claim['evidence']>;
} = {}): Claim {
  const claim = {
    ...KEY,
    configuration: TILE as Configuration,
    evidence: { version: 2, confidence: 0.99, ...EVIDENCE, ...evidence },
    createdAt: '2026-01-31T08:00:00.000Z',
    ...ORIGIN,
    ...change,
  };
  return { ...claim, digest: digestOf(claim) };
}

export const claimLineOf = (change: Parameters<typeof claimOf>[0] = {}): ClaimLine => ({
  type: 'claim',
  version: 1,
  ...claimOf(change),
});

export const markLineOf = (change: Partial<KeptMark> = {}): MarkLine => ({
  ...{ type: 'mark', version: 1, ...KEY, ...MARK, generation: 0, ...ORIGIN, ...change },
});

const { configuration, ...timed } = RUN;
export const TRIAL_RUN: Omit<Run, 'configuration'> = timed;

export const trialLineOf = (change: Partial<TrialLine> = {}): TrialLine => ({
  ...{ type: 'trial', version: 1, ...KEY, id: '0123456789abcdef0123456789abcdef', configuration },
  ...{ outcome: 'measured', seconds: 0.001, ratio: 1.8, message: null, strategy: 'grid' },
  ...{ createdAt: '2026-01-31T08:00:00.000Z', ...ORIGIN, runs: [TRIAL_RUN] },
  ...change,
});

export const revocationLineOf = (change: Partial<Revocation> = {}): RevocationLine => ({
  ...{ type: 'revocation', version: 1, scope: 'tool', value: '0.0.9', reason: 'it measured nothing' },
  ...{ createdAt: '2026-02-01T08:00:00.000Z', createdBy: 'an administrator', ...change },
});

/** A program on the device of `SUBJECT`, as `programIdentity` names it. */
export const PROGRAM = JSON.stringify(['a digest', KEY.target, KEY.device, KEY.compiler, [], []]);

export const FORMS_NOTE = { verdict: 'better', reason: '2x as fast', budgetSeconds: 60, attempts: 1 };

export const noteLineOf = (change: Partial<NoteLine> = {}): NoteLine => ({
  ...{ type: 'note', version: 1, program: PROGRAM, kind: 'forms', note: FORMS_NOTE },
  ...{ writtenAt: '2026-01-31T08:00:00.000Z', ...ORIGIN },
  ...change,
});

/** Descriptions of a subject's keys. */
export const partLinesOf = (subject = SUBJECT): PartLine[] =>
  (['workload', 'target', 'device', 'compiler'] as const).map((type) => ({
    ...{ type, version: 1, key: subject[type], form: subject[`${type}Form`] },
  }));

/** All lines of a database. @throws Error for an invalid row */
export const linesOf = (exchange: Exchange, filter = {}): string[] => [
  ...exchange.lines(filter, (reason) => {
    throw new Error(reason);
  }),
];

export const receiveLines = (exchange: Exchange, lines: readonly unknown[]) =>
  exchange.receive(lines.map((line) => readValue(line)));

/** One line of each type. */
export const SAMPLE: readonly Line[] = [
  ...partLinesOf(),
  revocationLineOf(),
  claimLineOf(),
  claimLineOf({ configuration: DEFAULT_CONFIGURATION, evidence: { ratio: 1, low: 1, high: 1 } }),
  markLineOf({ configuration: { version: 1, kind: 'data-tile' } }),
  trialLineOf(),
  noteLineOf(),
];

const origins: readonly Origin[] = [
  ORIGIN,
  { ...ORIGIN, machine: 'another' },
  { createdBy: 'zoe', machine: 'another', tool: '0.0.9' },
];
const originArbitrary = fc.constantFrom(...origins);
const configurations: readonly Configuration[] = [
  DEFAULT_CONFIGURATION,
  TILE,
  { ...TILE, peeling: false },
  { version: 1, kind: 'data-tile' },
];
const instant = fc.constantFrom('2026-01-01T00:00:00Z', '2026-02-01T00:00:00Z', '2026-03-01T00:00:00Z');
const few = (most: number) => fc.integer({ min: 1, max: most });

/** Similar claims for one subject and configuration. */
export const claims = (of: fc.Arbitrary<Configuration> = fc.constant(TILE)): fc.Arbitrary<Claim> =>
  fc
    .record({
      configuration: of,
      origin: originArbitrary,
      createdAt: instant,
      version: few(2),
      complete: fc.boolean(),
      processes: few(3),
      repetitions: few(2),
      low: fc.constantFrom(0.9, 1, 1.7, 1.79),
      trials: few(3),
      tuningSeconds: few(3),
      families: fc.subarray(['data-tile', 'later', 'tile']),
    })
    .map(({ configuration, origin, createdAt, ...evidence }) =>
      claimOf({ configuration, createdAt, ...origin, evidence }),
    );

const ownConfigurations = configurations.filter(({ kind }) => kind !== 'default');

export const keptMarks = (of = fc.constantFrom(...ownConfigurations)): fc.Arbitrary<KeptMark> =>
  fc
    .record({
      configuration: of,
      generation: fc.integer({ min: 0, max: 2 }),
      kind: fc.constantFrom('compile-error', 'wrong-result', 'slower', 'lifted'),
      reason: fc.constantFrom('one', 'two'),
      createdAt: instant,
      origin: originArbitrary,
    })
    .map(({ origin, ...mark }) => ({ ...mark, ...origin }));

export const revocations: fc.Arbitrary<RevocationLine> = fc
  .constantFrom<Partial<Revocation>>(
    { scope: 'tool', value: '0.0.9' },
    { scope: 'origin', value: 'another' },
    { scope: 'origin', value: 'zoe@another' },
    { scope: 'record', value: claimOf().digest },
  )
  .map(revocationLineOf);

const trials: fc.Arbitrary<TrialLine> = fc
  .record({
    id: fc.constantFrom('0'.repeat(32), '1'.repeat(32)),
    runs: fc.array(
      fc.nat(1).map((batch) => ({ ...TRIAL_RUN, batch })),
      { maxLength: 2 },
    ),
    strategy: fc.constantFrom('grid', 'random'),
  })
  .map(trialLineOf);

export const notes: fc.Arbitrary<NoteLine> = fc
  .record({
    kind: fc.constantFrom('forms', 'program'),
    verdict: fc.constantFrom('better', 'worse', 'open'),
    open: fc.constantFrom(null, {}),
    writtenAt: instant,
    origin: originArbitrary,
  })
  .map(({ kind, verdict, open, writtenAt, origin }) =>
    noteLineOf({
      ...{ kind, writtenAt, ...origin },
      note: kind === 'forms' ? { ...FORMS_NOTE, verdict } : { open },
    }),
  );

const parts = fc.constantFrom<Line>(
  ...[SUBJECT, subjectOf(512, { deviceForm: { driver: 'z' }, targetForm: [] })].flatMap(partLinesOf),
);

/** Lines about one subject, without revocations. */
export const told: fc.Arbitrary<Line> = fc.oneof(
  {
    weight: 3,
    arbitrary: claims(fc.constantFrom(...configurations)).map((claim): Line => ({
      type: 'claim',
      version: 1,
      ...claim,
    })),
  },
  { weight: 2, arbitrary: keptMarks().map((mark): Line => ({ type: 'mark', version: 1, ...KEY, ...mark })) },
  trials,
  notes,
  parts,
);
