// The data of the page's script: plain JSON.
import type { ProgramLoss } from '../loss.ts';
import type { DayStatistics, Statistics } from '../statistics.ts';

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

export const OUTCOMES = ['faster', 'default is best', 'must not be used'] as const;
export type Outcome = (typeof OUTCOMES)[number];

export interface PageRecord {
  /** Key of the workload. */
  readonly key: string;
  /** Index into `PageData.places`. */
  readonly place: number;
  readonly configuration: string;
  /** Kind of the configuration. */
  readonly kind: string;
  readonly outcome: Outcome;
  /** Why the record is not used; null for a usable record. */
  readonly failure: string | null;
  readonly ratio: number;
  /** 99% interval of `ratio`. */
  readonly low: number;
  readonly high: number;
  /** Time of one execution in seconds: by default, and as decided. */
  readonly before: number;
  readonly after: number;
  readonly trials: number;
  readonly tuningSeconds: number;
  readonly complete: boolean;
  readonly author: string;
  /** Minutes since 1970, UTC. */
  readonly written: number;
  /** Floating-point or integer operations of one execution, and bytes of operands and result; null if only the key is known. */
  readonly flops: number | null;
  readonly bytes: number | null;
  /** Least time of one execution by the rates of its place; null if a rate or the work is unknown, or sizes are dynamic. */
  readonly bound: number | null;
}

/** A timed program. */
export interface PageLoss extends Omit<ProgramLoss, 'rates'> {
  readonly name: string;
  /** Index of its place. */
  readonly place: number;
  /** The sums in words, and the rates behind the bounds. */
  readonly sums: string;
  readonly rates: string;
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

/** Work that is left at one place. */
export interface Task {
  /** Index into `PageData.places`. */
  readonly place: number;
  readonly kind: 'missing' | 'incomplete';
  readonly items: readonly { readonly workload: string; readonly note: string }[];
  /** Number of unlisted items. */
  readonly more: number;
  /** Command for that place; null if only the program of the items can tune them. */
  readonly command: string | null;
  /** Command for a place that has the program. */
  readonly programCommand: string;
  /** Number of items that the first command tunes. */
  readonly covered: number;
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
  readonly places: readonly Place[];
  /** Newest first. */
  readonly records: readonly PageRecord[];
  /** The largest loss first. */
  readonly losses: readonly PageLoss[];
  readonly searches: readonly SearchCurve[];
  /** Number of records beyond the largest number of curves. */
  readonly searchesLeftOut: number;
  readonly drift: readonly DriftPair[];
  readonly statistics: Statistics;
  readonly history: readonly DayStatistics[];
  readonly tasks: readonly Task[];
  readonly kernels: KernelsData | null;
  readonly models: ModelsData | null;
}
