// Converts rows to values; undefined for an invalid row, which readers skip.
import { workloadRank, workloadKey, isWorkload } from '../../workload/workload.ts';
import type { Effort } from '../claim.ts';
import {
  HIGHEST_GENERATION,
  isPlain,
  LONGEST_CONFIGURATION,
  LONGEST_NAME,
  LONGEST_REASON,
  LONGEST_REVOKED,
} from '../limits.ts';
import { FIELDS, MARK_KINDS, MEASURED, PLACEMENTS, SCOPES, STAGES, TRIAL_OUTCOMES } from '../fields.ts';
import { isIntegerWithin, pick } from '../../system/data.ts';
import type {
  Claim,
  Evidence,
  KeptMark,
  KeptTrial,
  KnownDevice,
  Origin,
  RecordKey,
  Revocation,
  Run,
  Subject,
  Trial,
  TuningRecord,
  Undecided,
} from '../store.ts';
import { keysOf } from '../subject.ts';
import { isDeviceName, isInstant, isSoundEvidence, parseJson, areFamilies, areTimes } from '../validate.ts';
import { isConfiguration, configurationText } from '../../backend/index.ts';
import type { Configuration } from '../../backend/configuration.ts';

/** A value whose fields of these names are JSON. STRICT tables guarantee the types. The functions below check the values. */
type Row<T, Json extends keyof T> = Omit<T, Json> & { readonly [Name in Json]: string };

export type ClaimRow = Row<Omit<Claim, 'evidence'>, 'configuration'> &
  Row<Omit<Claim['evidence'], 'complete'>, 'families'> & {
    readonly subject: number;
    readonly workloadForm: string;
    /** 0 or 1, like the fields of `RecordRow`. */
    readonly complete: number;
  };

export interface RecordRow extends ClaimRow {
  readonly hasMarks: number;
  /** Whether the database has any revocation. */
  readonly mayBeRevoked: number;
}

/** A row of `FIND_RECORDS`. `place` is the index of its workload in the question. */
export type FoundRow = Omit<RecordRow, 'workload' | 'target' | 'compiler'> & { readonly place: number };

export type MarkRow = Row<KeptMark, 'configuration'>;

export type TrialRow = Row<Trial & Origin, 'configuration'>;

export type KeptTrialRow = TrialRow &
  RecordKey &
  Pick<KeptTrial, 'id' | 'createdAt'> & { readonly number: number };

/** A trial of a similar subject. */
export interface AlikeRow extends TrialRow, Pick<RecordKey, 'device' | 'compiler'> {
  readonly subject: number;
  readonly workloadForm: string;
  readonly distance: number;
}

export type RunRow = Row<Omit<Run, 'defaultSeconds'>, 'configuration' | 'seconds'> & {
  readonly defaultSeconds: string | null;
};

export type SubjectRow = Row<Subject, 'workloadForm' | 'targetForm' | 'deviceForm' | 'compilerForm'>;

export type DeviceRow = Row<KnownDevice, 'form'>;

/** A row as an object, from a list of its columns. */
export function rowOf(names: readonly string[], values: readonly unknown[]): Record<string, unknown> {
  const row: Record<string, unknown> = {};
  for (let i = 0; i < names.length; i++) row[names[i]!] = values[i];
  return row;
}

function toEvidence(row: ClaimRow): Evidence | undefined {
  const families = parseJson(row.families);
  if (!areFamilies(families)) return undefined;
  const { trials, tuningSeconds, complete } = row;
  const evidence = { ...pick(row, MEASURED), trials, tuningSeconds, families, complete: complete === 1 };
  return isSoundEvidence(evidence) ? evidence : undefined;
}

/** The fields that claims and records share. */
function toJudged(row: ClaimRow): (Omit<Claim, 'evidence'> & { readonly evidence: Evidence }) | undefined {
  const form = parseJson(row.workloadForm);
  if (!isWorkload(form) || !isInstant(row.createdAt)) return undefined;
  const configuration = toConfiguration(row.configuration, workloadRank(form));
  const evidence = toEvidence(row);
  if (configuration === undefined || evidence === undefined) return undefined;
  const { createdAt, createdBy, machine, tool, digest } = row;
  return { ...keysOf(row), configuration, evidence, createdAt, createdBy, machine, tool, digest };
}

export function toClaim(row: ClaimRow): Claim | undefined {
  const judged = toJudged(row);
  const { version, confidence } = row;
  return judged && { ...judged, evidence: { version, confidence, ...judged.evidence } };
}

/** @param failure reason of the configuration's marks; called only if there are marks */
export function toRecord(row: RecordRow, failure: (row: RecordRow) => string | null): TuningRecord | null {
  const judged = toJudged(row);
  return judged === undefined ? null : { ...judged, failure: row.hasMarks === 0 ? null : failure(row) };
}

/** Effort of a claim, which may be invalid otherwise; null if the effort is invalid. */
export function toEffort({ families: text, trials, tuningSeconds }: ClaimRow): Effort | null {
  const families = parseJson(text);
  const isSound = areFamilies(families) && trials >= 0 && tuningSeconds >= 0 && tuningSeconds < Infinity;
  return isSound ? { families, trials, tuningSeconds } : null;
}

export function toMark(row: MarkRow): KeptMark | undefined {
  const configuration = toConfiguration(row.configuration);
  const { generation, kind, createdAt } = row;
  if (configuration === undefined || !MARK_KINDS.includes(kind) || !isInstant(createdAt)) return undefined;
  // An excessive generation would disable all other marks.
  if (!isIntegerWithin(generation, 0, HIGHEST_GENERATION)) return undefined;
  return { ...pick(row, FIELDS.mark), configuration };
}

/** Rejects an infinite budget, because such a row would never be retried. */
export function toUndecided(row: Undecided): Undecided | undefined {
  return Number.isFinite(row.budgetSeconds) && isInstant(row.lastTriedAt) ? row : undefined;
}

export function toDevice({ key, form: text, name }: DeviceRow): KnownDevice | undefined {
  const form = parseJson(text);
  return form === undefined ? undefined : { key, form, name: isDeviceName(name) ? name : null };
}

export function toTrial(row: TrialRow): Trial | undefined {
  const configuration = toConfiguration(row.configuration);
  const { outcome, seconds, ratio, message, strategy } = row;
  if (configuration === undefined || !TRIAL_OUTCOMES.includes(outcome)) return undefined;
  if ((outcome === 'measured') !== areTimes([seconds]) || (ratio !== null && !areTimes([ratio])))
    return undefined;
  return { configuration, outcome, seconds, ratio, message, strategy };
}

export function toRun(row: RunRow): Run | undefined {
  const configuration = toConfiguration(row.configuration);
  const seconds = parseJson(row.seconds);
  const defaultSeconds = row.defaultSeconds === null ? null : parseJson(row.defaultSeconds);
  if (configuration === undefined || !areTimes(seconds)) return undefined;
  if (defaultSeconds !== null && !(areTimes(defaultSeconds) && defaultSeconds.length === seconds.length))
    return undefined;
  const { stage, batch, placement, build } = row;
  if (!STAGES.includes(stage) || !PLACEMENTS.includes(placement)) return undefined;
  if (![batch, build].every((count) => isIntegerWithin(count, 0, Number.MAX_SAFE_INTEGER))) return undefined;
  return { configuration, stage, batch, placement, build, seconds, defaultSeconds };
}

export function toRevocation(row: Revocation): Revocation | undefined {
  const { scope, value, reason, createdAt, createdBy } = row;
  const isText = (text: string, longest: number) => text.length <= longest && isPlain(text);
  return SCOPES.includes(scope) &&
    value !== '' &&
    isText(value, LONGEST_REVOKED) &&
    isText(reason, LONGEST_REASON) &&
    isText(createdBy, LONGEST_NAME) &&
    isInstant(createdAt)
    ? pick(row, FIELDS.revocation)
    : undefined;
}

/** Accepts the canonical text only, because marks refer to configurations by text. */
export function toConfiguration(text: string, rank?: number): Configuration | undefined {
  if (text.length > LONGEST_CONFIGURATION) return undefined;
  const value = parseJson(text);
  return isConfiguration(value, rank) && configurationText(value) === text ? value : undefined;
}

/** The forms of target, device and compiler are any JSON. A workload's form must match its key. */
export function toSubject(row: SubjectRow): Subject | undefined {
  const workloadForm = parseJson(row.workloadForm);
  if (!isWorkload(workloadForm) || workloadKey(workloadForm) !== row.workload) return undefined;
  const [targetForm, deviceForm, compilerForm] = [row.targetForm, row.deviceForm, row.compilerForm].map(
    parseJson,
  );
  if (targetForm === undefined || deviceForm === undefined || compilerForm === undefined) return undefined;
  return { ...keysOf(row), workloadForm, targetForm, deviceForm, compilerForm };
}
