// Converts rows to values; undefined for an invalid row, which readers skip.
import { workloadRank, workloadKey, isWorkload } from '../../workload/workload.ts';
import type { Effort } from '../claim.ts';
import { FIELDS, MEASURED, PARTS, SHAPES } from '../fields.ts';
import { pick } from '../../system/data.ts';
import type {
  Claim,
  ClaimEvidence,
  KeptMark,
  KeptNote,
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
import { LONGEST_CONFIGURATION, faultIn, isDeviceName, isInstant, parseJson } from '../validate.ts';
import { isConfiguration, configurationText } from '../../backend/index.ts';
import type { Configuration } from '../../backend/configuration.ts';

interface ConfiguredRow {
  readonly configuration: string;
}

/** Columns of claims that are read before the rest is checked. STRICT tables guarantee the types. */
export interface ClaimRow extends ConfiguredRow, RecordKey, Origin {
  readonly subject: number;
  readonly workloadForm: string;
  readonly low: number;
  readonly digest: string;
}

export interface RecordRow extends ClaimRow {
  /** 0 or 1, like the next. */
  readonly hasMarks: number;
  /** Whether the database has any revocation. */
  readonly mayBeRevoked: number;
}

/** A row of `FIND_RECORDS`. `place` is the index of its workload in the question. */
export type FoundRow = Omit<RecordRow, 'workload' | 'target' | 'compiler'> & { readonly place: number };

/** A row as an object, from a list of its columns. */
export function rowOf(names: readonly string[], values: readonly unknown[]): Record<string, unknown> {
  const row: Record<string, unknown> = {};
  for (let i = 0; i < names.length; i++) row[names[i]!] = values[i];
  return row;
}

/** The values of the tables. */
interface Values {
  readonly claim: Omit<Claim, 'evidence' | keyof RecordKey> & ClaimEvidence;
  readonly mark: KeptMark;
  readonly trial: Omit<KeptTrial, 'runs'>;
  readonly run: Omit<Run, 'configuration'>;
  readonly revocation: Revocation;
  readonly note: KeptNote;
}

/** Texts in these columns are JSON. */
const JSON_COLUMNS = ['configuration', 'families', 'seconds', 'defaultSeconds', 'note'];

/** The value of a row, which may have more columns; undefined for an invalid row. */
function valueOf<Table extends keyof Values>(table: Table, row: object): Values[Table] | undefined {
  const columns = row as Readonly<Record<string, unknown>>;
  const value: Record<string, unknown> = pick(columns, FIELDS[table]);
  for (const name of JSON_COLUMNS) if (typeof value[name] === 'string') value[name] = parseJson(value[name]);
  if ('complete' in value) value['complete'] = value['complete'] === 1;
  if (faultIn(SHAPES[table], value) !== null) return undefined;
  const configuration = value['configuration'] as Configuration | undefined;
  // Marks refer to configurations by text, so another spelling is invalid.
  const isCanonical =
    configuration === undefined || configurationText(configuration) === columns['configuration'];
  return isCanonical ? (value as unknown as Values[Table]) : undefined;
}

export function toClaim(row: ClaimRow): Claim | undefined {
  const form = parseJson(row.workloadForm);
  const value = valueOf('claim', row);
  if (value === undefined || !isWorkload(form)) return undefined;
  const { configuration, createdAt, createdBy, machine, tool, digest } = value;
  if (!isConfiguration(configuration, workloadRank(form))) return undefined;
  const evidence = pick(value, FIELDS.evidence);
  return { ...keysOf(row), configuration, evidence, createdAt, createdBy, machine, tool, digest };
}

const EFFORT = ['trials', 'tuningSeconds', 'families'] as const;

/** @param failure reason of the configuration's marks; called only if there are marks */
export function toRecord(row: RecordRow, failure: (row: RecordRow) => string | null): TuningRecord | null {
  const claim = toClaim(row);
  if (claim === undefined) return null;
  const evidence = pick(claim.evidence, [...MEASURED, ...EFFORT, 'complete']);
  return { ...claim, evidence, failure: row.hasMarks === 0 ? null : failure(row) };
}

/** Effort of a claim, which may be invalid otherwise; null if the effort is invalid. */
export function toEffort(row: object): Effort | null {
  const { trials, tuningSeconds, families } = row as Record<string, unknown>;
  const effort = { trials, tuningSeconds, families: parseJson(families) };
  const checks = pick(SHAPES.evidence.checks, EFFORT);
  return faultIn({ checks }, effort) === null ? (effort as Effort) : null;
}

export const toMark = (row: object): KeptMark | undefined => valueOf('mark', row);

/** Rejects an infinite budget, because such a row would never be retried. */
export function toUndecided(row: Undecided): Undecided | undefined {
  return Number.isFinite(row.budgetSeconds) && isInstant(row.lastTriedAt) ? row : undefined;
}

/** @param row its form is JSON */
export function toDevice(row: object): KnownDevice | undefined {
  const { key, form: json, name } = row as KnownDevice;
  const form = parseJson(json);
  return form === undefined ? undefined : { key, form, name: isDeviceName(name) ? name : null };
}

export const toKeptTrial = (row: object): Values['trial'] | undefined => valueOf('trial', row);

export function toTrial(row: object): Trial | undefined {
  const trial = toKeptTrial(row);
  return trial && pick(trial, ['configuration', 'outcome', 'seconds', 'ratio', 'message', 'strategy']);
}

/** @param row a run with the configuration of its trial */
export function toRun(row: object): Run | undefined {
  const configuration = toConfiguration((row as ConfiguredRow).configuration);
  const run = valueOf('run', row);
  return configuration && run && { configuration, ...run };
}

export const toRevocation = (row: object): Revocation | undefined => valueOf('revocation', row);

export const toNote = (row: object): KeptNote | undefined => valueOf('note', row);

export function toConfiguration(text: string): Configuration | undefined {
  if (text.length > LONGEST_CONFIGURATION) return undefined;
  const value = parseJson(text);
  return isConfiguration(value) && configurationText(value) === text ? value : undefined;
}

/**
 * The forms of target, device and compiler are any JSON. A workload's form must match its key.
 * @param row its forms are JSON
 */
export function toSubject(row: object): Subject | undefined {
  const subject = row as Subject;
  const [workloadForm, ...others] = PARTS.map((part) => parseJson(subject[`${part}Form`]));
  if (!isWorkload(workloadForm) || workloadKey(workloadForm) !== subject.workload) return undefined;
  const [targetForm, deviceForm, compilerForm] = others;
  const keys = keysOf(subject);
  return others.includes(undefined)
    ? undefined
    : { ...keys, workloadForm, targetForm, deviceForm, compilerForm };
}
