// Rows to values. A row that does not validate gives undefined, and its reader goes on without it.
import { workloadRank, workloadKey, isWorkload } from '../../workload/workload.ts';
import type {
  Evidence,
  KnownDevice,
  RecordKey,
  Run,
  Subject,
  Trial,
  TrialOutcome,
  TuningRecord,
  Mark,
  MarkKind,
  Undecided,
} from '../store.ts';
import { isDeviceName, isInstant, isSoundEvidence, parseJson, areFamilies, areTimes } from '../validate.ts';
import { isConfiguration, configurationText } from '../../backend/index.ts';
import type { Configuration } from '../../backend/configuration.ts';

/** STRICT tables vouch for the types of columns; what the texts and numbers say is checked here. */
export interface RecordRow extends RecordKey {
  readonly workload_form: string;
  readonly configuration: string;
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
  readonly failure: string | null;
  readonly created_at: string;
  readonly created_by: string;
}

export interface MarkRow {
  readonly configuration: string;
  readonly kind: MarkKind;
  readonly reason: string;
  readonly created_at: string;
  readonly created_by: string;
}

export interface TrialRow {
  readonly configuration: string;
  readonly outcome: TrialOutcome;
  readonly seconds: number | null;
  readonly ratio: number | null;
  readonly message: string | null;
  readonly strategy: string;
}

export interface RunRow extends Pick<Run, 'stage' | 'batch' | 'placement' | 'build'> {
  readonly configuration: string;
  readonly seconds: string;
  readonly default_seconds: string | null;
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

export function toRecord(row: RecordRow): TuningRecord | undefined {
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
    workload: row.workload,
    target: row.target,
    device: row.device,
    compiler: row.compiler,
    configuration,
    evidence,
    failure: row.failure,
    createdAt: row.created_at,
    createdBy: row.created_by,
  };
}

export function toMark(row: MarkRow): Mark | undefined {
  const configuration = toConfiguration(row.configuration);
  if (configuration === undefined) return undefined;
  const { kind, reason, created_at: createdAt, created_by: createdBy } = row;
  return { configuration, kind, reason, createdAt, createdBy };
}

/** Nobody has more time than for ever: such a row would never be tried again. */
export function toUndecided(row: Undecided): Undecided | undefined {
  return Number.isFinite(row.budgetSeconds) && isInstant(row.lastTriedAt) ? row : undefined;
}

export function toDevice({ key, form: text, name }: DeviceRow): KnownDevice | undefined {
  const form = parseJson(text);
  return form === undefined ? undefined : { key, form, name: isDeviceName(name) ? name : null };
}

export function toTrial(row: TrialRow): Trial | undefined {
  const configuration = toConfiguration(row.configuration);
  if (configuration === undefined) return undefined;
  const { outcome, seconds, ratio, message, strategy } = row;
  return { configuration, outcome, seconds, ratio, message, strategy };
}

export function toRun(row: RunRow): Run | undefined {
  const configuration = toConfiguration(row.configuration);
  const seconds = parseJson(row.seconds);
  const defaultSeconds = row.default_seconds === null ? null : parseJson(row.default_seconds);
  if (configuration === undefined || !areTimes(seconds)) return undefined;
  if (defaultSeconds !== null && !(areTimes(defaultSeconds) && defaultSeconds.length === seconds.length))
    return undefined;
  const { stage, batch, placement, build } = row;
  return { configuration, stage, batch, placement, build, seconds, defaultSeconds };
}

/** Only what is spelled as we spell it: a mark is found by its configuration's text. */
function toConfiguration(text: string, rank?: number): Configuration | undefined {
  const value = parseJson(text);
  return isConfiguration(value, rank) && configurationText(value) === text ? value : undefined;
}

/** The forms of target, device and compiler are any JSON; a workload's form must be the one that its key was made from. */
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
