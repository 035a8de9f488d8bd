// Exchange format of databases, in files and with a team's server: one JSON object a line.
import * as v from 'valibot';
import { configurationText, isConfiguration } from '../../backend/index.ts';
import type { Configuration } from '../../backend/configuration.ts';
import { isIntegerWithin } from '../../system/data.ts';
import { isWorkload, workloadKey } from '../../workload/workload.ts';
import { digestOf } from '../claim.ts';
import { MARK_KINDS, PLACEMENTS, SCOPES, STAGES, TRIAL_OUTCOMES, type PartType } from '../fields.ts';
import type { Claim, Evidence, KeptMark, KeptTrial, RecordKey, Revocation } from '../store.ts';
import {
  HIGHEST_GENERATION,
  isPlain,
  LONGEST_FORM,
  LONGEST_KEY,
  LONGEST_NAME,
  LONGEST_REASON,
  LONGEST_REVOKED,
} from '../limits.ts';
import { areFamilies, areTimes, isInstant, isShortConfiguration, isSoundEvidence } from '../validate.ts';

/** Version of lines. A line of a later version is kept unread. */
export const LINE_VERSION = 1;

/** Limit of a line in bytes, above the longest trial. */
export const LONGEST_LINE = 2 ** 20;

interface Versioned<T extends string> {
  readonly type: T;
  readonly version: typeof LINE_VERSION;
}

/** Description of a key. It comes before lines with the key. */
export interface PartLine extends Versioned<PartType> {
  readonly key: string;
  readonly form: unknown;
}

export type ClaimLine = Versioned<'claim'> & Claim;
export type MarkLine = Versioned<'mark'> & RecordKey & KeptMark;
export type TrialLine = Versioned<'trial'> & RecordKey & KeptTrial;
export type RevocationLine = Versioned<'revocation'> & Revocation;

/** A line of this version. */
export type Line = PartLine | ClaimLine | MarkLine | TrialLine | RevocationLine;

const text = (longest: number) =>
  v.pipe(
    v.string(),
    v.maxLength(longest, `is longer than ${longest} characters`),
    v.check(isPlain, 'contains control characters'),
  );
const key = v.pipe(text(LONGEST_KEY), v.minLength(1, 'is empty'));
const name = text(LONGEST_NAME);
const reason = text(LONGEST_REASON);
const instant = v.custom<string>(isInstant, 'is not a UTC time such as 2026-01-31T08:00:00Z');
const hex = (digits: number) =>
  v.pipe(v.string(), v.regex(new RegExp(`^[0-9a-f]{${digits}}$`), `is not ${digits} hexadecimal digits`));
const seconds = v.pipe(
  v.number('is not a number'),
  v.finite('is not finite'),
  v.gtValue(0, 'is not positive'),
);
const count = (least: number, most = Number.MAX_SAFE_INTEGER) =>
  v.custom<number>(
    (value) => isIntegerWithin(value, least, most),
    `is not a whole number of at least ${least}`,
  );

const configuration = v.custom<Configuration>(
  (value) => isConfiguration(value) && isShortConfiguration(value),
  'is not a valid configuration of at most 4096 bytes',
);
const ownConfiguration = v.pipe(
  configuration,
  v.check(({ kind }) => kind !== 'default', 'is the default: only other configurations get marks'),
);

const subject = { workload: key, target: key, device: key, compiler: key };
const origin = { createdBy: name, machine: name, tool: name };
const versioned = <T extends string>(type: T) => ({
  type: v.literal(type),
  version: v.literal(LINE_VERSION),
});

/** Any JSON value within the size limit. */
const form = v.pipe(
  v.unknown(),
  v.check((value) => {
    const json = JSON.stringify(value) as string | undefined;
    return json !== undefined && json.length <= LONGEST_FORM && json.isWellFormed();
  }, `is not JSON of at most ${LONGEST_FORM} characters`),
);

const workloadLine = v.pipe(
  v.strictObject({ ...versioned('workload'), key, form }),
  v.check(
    (line) => isWorkload(line.form) && workloadKey(line.form) === line.key,
    'has an invalid form, or the key of another form',
  ),
);
const partLine = (type: Exclude<PartType, 'workload'>) => v.strictObject({ ...versioned(type), key, form });

const evidence = v.pipe(
  v.strictObject({
    version: count(1, 1000),
    confidence: v.pipe(v.number(), v.gtValue(0), v.ltValue(1)),
    ratio: v.number(),
    low: v.number(),
    high: v.number(),
    defaultSeconds: v.number(),
    seconds: v.number(),
    processes: v.number(),
    repetitions: v.number(),
    noiseFloor: v.number(),
    maxError: v.number(),
    trials: v.number(),
    tuningSeconds: v.number(),
    families: v.custom<Evidence['families']>(areFamilies, 'is not a sorted list of kinds'),
    complete: v.boolean(),
  }),
  v.check(
    (value) => isSoundEvidence(value),
    'is inconsistent: times and ratios must be positive, and low <= ratio <= high',
  ),
);

const claimLine = v.pipe(
  v.strictObject({
    ...versioned('claim'),
    ...subject,
    configuration,
    evidence,
    createdAt: instant,
    ...origin,
    digest: hex(64),
  }),
  v.check((claim) => digestOf(claim) === claim.digest, 'does not match its digest: the claim was changed'),
);

const markLine = v.strictObject({
  ...versioned('mark'),
  ...subject,
  configuration: ownConfiguration,
  generation: count(0, HIGHEST_GENERATION),
  kind: v.picklist(MARK_KINDS),
  reason,
  createdAt: instant,
  ...origin,
});

const times = v.custom<readonly number[]>(areTimes, 'is not a list of positive times');
const run = v.pipe(
  v.strictObject({
    stage: v.picklist(STAGES),
    batch: count(0),
    placement: v.picklist(PLACEMENTS),
    build: count(0),
    seconds: times,
    defaultSeconds: v.nullable(times),
  }),
  v.check(
    (one) => one.defaultSeconds === null || one.defaultSeconds.length === one.seconds.length,
    'has times and default times of different sizes',
  ),
);

const trialLine = v.pipe(
  v.strictObject({
    ...versioned('trial'),
    ...subject,
    id: hex(32),
    configuration,
    outcome: v.picklist(TRIAL_OUTCOMES),
    seconds: v.nullable(seconds),
    ratio: v.nullable(seconds),
    message: v.nullable(reason),
    strategy: name,
    createdAt: instant,
    ...origin,
    runs: v.array(run),
  }),
  v.check(
    (trial) => (trial.outcome === 'measured') === (trial.seconds !== null),
    'must have a time if its outcome is measured, and no time otherwise',
  ),
  v.check((trial) => trial.seconds !== null || trial.ratio === null, 'has a ratio without a time'),
);

const revocationLine = v.strictObject({
  ...versioned('revocation'),
  scope: v.picklist(SCOPES),
  value: v.pipe(text(LONGEST_REVOKED), v.minLength(1, 'is empty')),
  reason,
  createdAt: instant,
  createdBy: name,
});

/** Schema of each type. */
export const LINES = {
  workload: workloadLine,
  target: partLine('target'),
  device: partLine('device'),
  compiler: partLine('compiler'),
  claim: claimLine,
  mark: markLine,
  trial: trialLine,
  revocation: revocationLine,
} satisfies Record<Line['type'], v.GenericSchema<unknown, Line>>;

/** Canonical text of a line that was read, without the line feed: equal lines have equal texts. */
export const lineText = (line: Line): string =>
  JSON.stringify(
    'configuration' in line
      ? { ...line, configuration: JSON.parse(configurationText(line.configuration)) as unknown }
      : line,
  );
