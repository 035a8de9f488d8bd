// Converts rows to values; undefined for an invalid row, which readers skip.
import { workloadRank, workloadKey, isWorkload, type Workload } from '../../workload/workload.ts';
import type { Effort } from '../claim.ts';
import {
  HIGHEST_GENERATION,
  isPlain,
  LONGEST_CONFIGURATION,
  LONGEST_NAME,
  LONGEST_REASON,
  LONGEST_REVOKED,
} from '../limits.ts';
import type { TrialAlike } from '../like.ts';
import { isIntegerWithin } from '../../system/data.ts';
import type {
  Claim,
  Evidence,
  KeptMark,
  KnownDevice,
  Origin,
  RecordKey,
  Revocation,
  Run,
  Subject,
  Trial,
  TrialOutcome,
  TuningRecord,
  MarkKind,
  Undecided,
} from '../store.ts';
import { keysOf } from '../subject.ts';
import { isDeviceName, isInstant, isSoundEvidence, parseJson, areFamilies, areTimes } from '../validate.ts';
import { isConfiguration, configurationText } from '../../backend/index.ts';
import type { Configuration } from '../../backend/configuration.ts';

/** STRICT tables guarantee the types of columns. The functions below check their values. */
export interface ClaimRow extends RecordKey {
  readonly workload_form: string;
  readonly configuration: string;
  readonly version: number;
  readonly confidence: number;
  readonly ratio: number;
  readonly low: number;
  readonly high: number;
  readonly default_seconds: number;
  readonly seconds: number;
  readonly processes: number;
  readonly repetitions: number;
  readonly noise_floor: number;
  readonly max_error: number;
  readonly trials: number;
  readonly tuning_seconds: number;
  readonly families: string;
  readonly complete: number;
  readonly created_at: string;
  readonly created_by: string;
  readonly machine: string;
  readonly tool: string;
  readonly digest: string;
}

export interface RecordRow extends ClaimRow {
  readonly subject: number;
  /** 0 or 1. */
  readonly has_marks: number;
  /** 1 if the database has any revocation, else 0. */
  readonly may_be_revoked: number;
}

/** A row of `FIND_RECORDS`. `place` is the index of its workload in the question. */
export type FoundRow = Omit<RecordRow, 'workload' | 'target' | 'compiler'> & { readonly place: number };

export interface MarkRow {
  readonly configuration: string;
  readonly generation: number;
  readonly kind: MarkKind;
  readonly reason: string;
  readonly created_at: string;
  readonly created_by: string;
  readonly machine: string;
  readonly tool: string;
}

/** Columns of the origin. */
export type OriginRow = Pick<ClaimRow, 'created_by' | 'machine' | 'tool'>;

export interface TrialRow extends OriginRow {
  readonly configuration: string;
  readonly outcome: TrialOutcome;
  readonly seconds: number | null;
  readonly ratio: number | null;
  readonly message: string | null;
  readonly strategy: string;
}

/** A trial of a similar subject. */
export interface AlikeRow extends TrialRow, Pick<RecordKey, 'device' | 'compiler'> {
  readonly subject: number;
  readonly workload_form: string;
  readonly distance: number;
}

export interface RunRow extends Pick<Run, 'stage' | 'batch' | 'placement' | 'build'> {
  readonly configuration: string;
  readonly seconds: string;
  readonly default_seconds: string | null;
}

export interface RevocationRow {
  readonly scope: Revocation['scope'];
  readonly value: string;
  readonly reason: string;
  readonly created_at: string;
  readonly created_by: string;
}

export interface SubjectRow extends RecordKey {
  readonly workload_form: string;
  readonly target_form: string;
  readonly device_form: string;
  readonly compiler_form: string;
}

export interface DeviceRow {
  readonly key: string;
  readonly form: string;
  readonly name: string | null;
}

/** A row as an object, from a list of its columns. */
export function rowOf(names: readonly string[], values: readonly unknown[]): Record<string, unknown> {
  const row: Record<string, unknown> = {};
  for (let i = 0; i < names.length; i++) row[names[i]!] = values[i];
  return row;
}

/** The fields that claims and records share. */
type Judged = RecordKey &
  Origin &
  Pick<Claim, 'configuration' | 'createdAt' | 'digest'> & { evidence: Evidence };

function toJudged(row: ClaimRow): Judged | undefined {
  const form = parseJson(row.workload_form);
  if (!isWorkload(form)) return undefined;
  const configuration = toConfiguration(row.configuration, workloadRank(form));
  const families = parseJson(row.families);
  if (configuration === undefined || !areFamilies(families)) return undefined;
  const evidence: Evidence = {
    ratio: row.ratio,
    low: row.low,
    high: row.high,
    defaultSeconds: row.default_seconds,
    seconds: row.seconds,
    processes: row.processes,
    repetitions: row.repetitions,
    noiseFloor: row.noise_floor,
    maxError: row.max_error,
    trials: row.trials,
    tuningSeconds: row.tuning_seconds,
    families,
    complete: row.complete === 1,
  };
  if (!isSoundEvidence(evidence) || !isInstant(row.created_at)) return undefined;
  return {
    ...keysOf(row),
    configuration,
    evidence,
    createdAt: row.created_at,
    ...toOrigin(row),
    digest: row.digest,
  };
}

export function toClaim(row: ClaimRow): Claim | undefined {
  const judged = toJudged(row);
  const { version, confidence } = row;
  return judged && { ...judged, evidence: { version, confidence, ...judged.evidence } };
}

/** @param failure reason of the configuration's marks; called only if there are marks */
export function toRecord(row: RecordRow, failure: (row: RecordRow) => string | null): TuningRecord | null {
  const judged = toJudged(row);
  return judged === undefined ? null : { ...judged, failure: row.has_marks === 0 ? null : failure(row) };
}

/** Effort of a claim, which may be invalid otherwise; null if the effort is invalid. */
export function toEffort({ families: text, trials, tuning_seconds: tuningSeconds }: ClaimRow): Effort | null {
  const families = parseJson(text);
  const isSound = areFamilies(families) && trials >= 0 && tuningSeconds >= 0 && tuningSeconds < Infinity;
  return isSound ? { families, trials, tuningSeconds } : null;
}

const KINDS: readonly MarkKind[] = ['compile-error', 'wrong-result', 'slower', 'lifted'];

export function toMark(row: MarkRow): KeptMark | undefined {
  const configuration = toConfiguration(row.configuration);
  const { generation, kind, reason, created_at: createdAt } = row;
  if (configuration === undefined || !KINDS.includes(kind) || !isInstant(createdAt)) return undefined;
  // An excessive generation would disable all other marks.
  if (!isIntegerWithin(generation, 0, HIGHEST_GENERATION)) return undefined;
  return { configuration, generation, kind, reason, createdAt, ...toOrigin(row) };
}

export const toOrigin = ({ created_by: createdBy, machine, tool }: OriginRow): Origin => ({
  createdBy,
  machine,
  tool,
});

/** Rejects an infinite budget, because such a row would never be retried. */
export function toUndecided(row: Undecided): Undecided | undefined {
  return Number.isFinite(row.budgetSeconds) && isInstant(row.lastTriedAt) ? row : undefined;
}

export function toDevice({ key, form: text, name }: DeviceRow): KnownDevice | undefined {
  const form = parseJson(text);
  return form === undefined ? undefined : { key, form, name: isDeviceName(name) ? name : null };
}

const OUTCOMES: readonly TrialOutcome[] = [
  'measured',
  'compile-error',
  'run-error',
  'timeout',
  'wrong-result',
];

export function toTrial(row: TrialRow): Trial | undefined {
  const configuration = toConfiguration(row.configuration);
  const { outcome, seconds, ratio, message, strategy } = row;
  if (configuration === undefined || !OUTCOMES.includes(outcome)) return undefined;
  if ((outcome === 'measured') !== areTimes([seconds]) || (ratio !== null && !areTimes([ratio])))
    return undefined;
  return { configuration, outcome, seconds, ratio, message, strategy };
}

export function toTrialAlike(row: AlikeRow, workload: Workload): TrialAlike | undefined {
  const trial = toTrial(row);
  const { device, compiler, distance } = row;
  return trial && { subject: String(row.subject), workload, device, compiler, distance, trial };
}

const STAGES: readonly Run['stage'][] = ['search', 'finals'];
const PLACEMENTS: readonly Run['placement'][] = ['apart', 'packed'];

export function toRun(row: RunRow): Run | undefined {
  const configuration = toConfiguration(row.configuration);
  const seconds = parseJson(row.seconds);
  const defaultSeconds = row.default_seconds === null ? null : parseJson(row.default_seconds);
  if (configuration === undefined || !areTimes(seconds)) return undefined;
  if (defaultSeconds !== null && !(areTimes(defaultSeconds) && defaultSeconds.length === seconds.length))
    return undefined;
  const { stage, batch, placement, build } = row;
  if (!STAGES.includes(stage) || !PLACEMENTS.includes(placement)) return undefined;
  if (![batch, build].every((count) => isIntegerWithin(count, 0, Number.MAX_SAFE_INTEGER))) return undefined;
  return { configuration, stage, batch, placement, build, seconds, defaultSeconds };
}

const SCOPES: readonly Revocation['scope'][] = ['record', 'tool', 'origin'];

export function toRevocation(row: RevocationRow): Revocation | undefined {
  const { scope, value, reason, created_at: createdAt, created_by: createdBy } = row;
  const isText = (text: string, longest: number) => text.length <= longest && isPlain(text);
  return SCOPES.includes(scope) &&
    value !== '' &&
    isText(value, LONGEST_REVOKED) &&
    isText(reason, LONGEST_REASON) &&
    isText(createdBy, LONGEST_NAME) &&
    isInstant(createdAt)
    ? { scope, value, reason, createdAt, createdBy }
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
  const workloadForm = parseJson(row.workload_form);
  if (!isWorkload(workloadForm) || workloadKey(workloadForm) !== row.workload) return undefined;
  const targetForm = parseJson(row.target_form);
  const deviceForm = parseJson(row.device_form);
  const compilerForm = parseJson(row.compiler_form);
  if (targetForm === undefined || deviceForm === undefined || compilerForm === undefined) return undefined;
  const { workload, target, device, compiler } = row;
  return { workload, target, device, compiler, workloadForm, targetForm, deviceForm, compilerForm };
}
