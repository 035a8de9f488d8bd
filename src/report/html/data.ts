// The data of the page's script: plain JSON. Records are columns, which keeps the JSON small.
import type { Statistics } from '../statistics.ts';

/** A site of measurements. The keys are separate for the filters. */
export interface Place {
  readonly target: string;
  readonly device: string;
  /** Name of the device; null without a name. */
  readonly deviceName: string | null;
  readonly compiler: string;
  /** Size in bytes of the largest cache of one core; null if unknown. */
  readonly cacheBytes: number | null;
}

/** All records, newest first: each array has one value per record. */
export interface RecordColumns {
  /** Index into `PageData.workloads.key`. */
  readonly workload: readonly number[];
  /** Index into `PageData.places`. */
  readonly place: readonly number[];
  /** Indices into `PageData.texts`. */
  readonly configuration: readonly number[];
  readonly author: readonly number[];
  /** Kind of the configuration: index into `PageData.texts`. */
  readonly kind: readonly number[];
  /** Why the record is not used: index into `PageData.texts`; -1 for a usable record. */
  readonly failure: readonly number[];
  readonly ratio: readonly number[];
  /** 99% interval of `ratio`. */
  readonly low: readonly number[];
  readonly high: readonly number[];
  /** Time of one execution in seconds. */
  readonly defaultSeconds: readonly number[];
  readonly seconds: readonly number[];
  readonly trials: readonly number[];
  readonly tuningSeconds: readonly number[];
  /** 0 or 1. */
  readonly complete: readonly number[];
  /** Minutes since 1970, UTC. */
  readonly written: readonly number[];
}

export interface WorkloadColumns {
  readonly key: readonly string[];
  /** Floating-point or integer operations of one execution, and bytes of operands and result; null if only the key is known. */
  readonly flops: readonly (number | null)[];
  readonly bytes: readonly (number | null)[];
}

/** The curve of one search. */
export interface SearchCurve {
  /** Index of the record. */
  readonly record: number;
  /** Number of timed trials, and of the others by outcome. */
  readonly measured: number;
  readonly failed: Readonly<Record<string, number>>;
  /** Improvements: number of the trial, from 1, and the default's time over its time. */
  readonly steps: readonly (readonly [trial: number, ratio: number])[];
}

/** The same workload, target and device by two compilers: indices of records. */
export interface DriftPair {
  readonly before: number;
  readonly after: number;
}

/** Counts of one day, UTC. */
export interface Day {
  readonly day: string;
  readonly compiles: number;
  readonly hit: number;
  readonly tuned: number;
  readonly default: number;
  readonly skipped: number;
  /** Counts by outcome and reason: `skipped: sizes-missing: dynamic dimensions without sizes to tune at`. */
  readonly reasons: Readonly<Record<string, number>>;
}

/** Work that is left at one place. */
export interface Task {
  /** Index into `PageData.places`. */
  readonly place: number;
  readonly kind: 'missing' | 'incomplete';
  readonly items: readonly TaskItem[];
  /** Number of unlisted items. */
  readonly more: number;
  /** Command for that place; null if only the program of the items can tune them. */
  readonly command: string | null;
  /** Command for a place that has the program. */
  readonly programCommand: string;
  /** Number of items that the first command tunes. */
  readonly covered: number;
}

export interface TaskItem {
  readonly workload: string;
  readonly note: string;
}

/** Results of `bench:kernels`. Rates are medians of the rounds in GFLOP/s; null if not measured. */
export interface KernelsData {
  readonly date: string;
  readonly device: string;
  readonly compiler: string;
  readonly threads: number;
  readonly shapes: readonly {
    readonly name: string;
    readonly rates: Readonly<Record<Variant, number | null>>;
    readonly peak: number | null;
  }[];
  /** Median of the peaks of all shapes. */
  readonly peak: number | null;
}

export const VARIANTS = ['stock', 'tuned', 'dataTiling', 'openblas', 'mkl'] as const;
export type Variant = (typeof VARIANTS)[number];

/** Results of `bench:models`. */
export interface ModelsData {
  readonly date: string;
  readonly device: string;
  readonly compiler: string;
  readonly models: readonly ModelData[];
}

export interface ModelData {
  readonly name: string;
  readonly state: string;
  readonly reason: string | null;
  readonly sameCode: boolean;
  readonly equal: boolean | null;
  /** Stock time over tuned time, with its 99% interval; null if not timed. */
  readonly timing: {
    readonly ratio: number;
    readonly low: number;
    readonly high: number;
    readonly seconds: readonly [stock: number, tuned: number];
  } | null;
  /** Shares of the stock program's time. Each share contains the next. */
  readonly coverage: {
    readonly contractions: number;
    readonly decided: number;
    readonly applied: number;
    readonly left: readonly { readonly reason: string; readonly share: number }[];
  } | null;
}

export interface PageData {
  readonly version: 1;
  readonly about: {
    readonly database: string;
    /** ISO 8601 UTC. */
    readonly written: string;
    readonly tool: string;
    /** The filters in words; empty without filters. */
    readonly filter: string;
  };
  readonly texts: readonly string[];
  readonly places: readonly Place[];
  readonly workloads: WorkloadColumns;
  readonly records: RecordColumns;
  readonly searches: readonly SearchCurve[];
  /** Number of records beyond the largest number of curves. */
  readonly searchesLeftOut: number;
  readonly drift: readonly DriftPair[];
  readonly statistics: Statistics;
  readonly history: readonly Day[];
  readonly tasks: readonly Task[];
  readonly kernels: KernelsData | null;
  readonly models: ModelsData | null;
}
