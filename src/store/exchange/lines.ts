// Exchange format of databases, in files and bases: one JSON object a line.
import { configurationText } from '../../backend/index.ts';
import { isObject, pick, type Check } from '../../system/data.ts';
import { resultOr } from '../../system/result-or.ts';
import { isWorkload, workloadKey } from '../../workload/workload.ts';
import { digestOf } from '../claim.ts';
import { FIELDS, SHAPES, type PartType } from '../fields.ts';
import type { Claim, KeptMark, KeptNote, KeptTrial, RecordKey, Revocation } from '../store.ts';
import { LONGEST_FORM, LONGEST_KEY, faultIn, isTextOf, type Shape } from '../validate.ts';

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
export type NoteLine = Versioned<'note'> & KeptNote;

/** A line of this version. */
export type Line = PartLine | ClaimLine | MarkLine | TrialLine | RevocationLine | NoteLine;

const isKey = isTextOf(LONGEST_KEY, 1);
const subject = { workload: isKey, target: isKey, device: isKey, compiler: isKey };

/** Any JSON value within the size limit. Deep nesting exhausts the stack. */
const isForm: Check = (value) => {
  const json = resultOr(() => JSON.stringify(value) as string | undefined, undefined);
  return json !== undefined && json.length <= LONGEST_FORM && json.isWellFormed();
};

/** @param relation see `Shape` */
const lineOf = (
  type: Line['type'],
  checks: Shape['checks'],
  relation: NonNullable<Shape['relation']> = () => null,
): Shape => ({
  checks: { type: (value) => value === type, version: (value) => value === LINE_VERSION, ...checks },
  relation,
});

const { configuration, createdAt, createdBy, machine, tool, digest } = SHAPES.claim.checks;

export const LINES: Readonly<Record<Line['type'], Shape>> = {
  workload: lineOf('workload', { key: isKey, form: isForm }, (line: PartLine) =>
    isWorkload(line.form) && workloadKey(line.form) === line.key
      ? null
      : 'it has an invalid form, or the key of another form',
  ),
  target: lineOf('target', { key: isKey, form: isForm }),
  device: lineOf('device', { key: isKey, form: isForm }),
  compiler: lineOf('compiler', { key: isKey, form: isForm }),
  claim: lineOf(
    'claim',
    { ...subject, configuration, evidence: isObject, createdAt, createdBy, machine, tool, digest },
    (claim: Claim) =>
      faultIn(SHAPES.evidence, claim.evidence) ??
      (digestOf(claim) === claim.digest ? null : 'it does not match its digest: the claim was changed'),
  ),
  mark: lineOf('mark', { ...subject, ...SHAPES.mark.checks }, SHAPES.mark.relation),
  trial: lineOf('trial', { ...subject, ...SHAPES.trial.checks, runs: Array.isArray }, (trial: KeptTrial) => {
    const faults = trial.runs.map((run) => faultIn(SHAPES.run, run)).filter((fault) => fault !== null);
    return faults[0] ?? SHAPES.trial.relation(trial);
  }),
  revocation: lineOf('revocation', SHAPES.revocation.checks),
  note: lineOf('note', SHAPES.note.checks),
};

/** A valid line with its fields in order. */
export const ordered = (line: Line): Line =>
  ({
    ...pick(line, Object.keys(LINES[line.type].checks) as (keyof Line)[]),
    ...(line.type === 'claim' && { evidence: pick(line.evidence, FIELDS.evidence) }),
    ...(line.type === 'trial' && { runs: line.runs.map((run) => pick(run, FIELDS.run)) }),
  }) as Line;

/** Canonical text of a line that was read, without the line feed: equal lines have equal texts. */
export const lineText = (line: Line): string =>
  JSON.stringify(
    'configuration' in line
      ? { ...line, configuration: JSON.parse(configurationText(line.configuration)) as unknown }
      : line,
  );
