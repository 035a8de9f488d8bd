// What the page's script is given: plain JSON, by columns where there are many rows, so that it stays small.
import type { Statistics } from '../statistics.ts';

/** A site that something was measured at; keys are kept apart so that each can be filtered by. */
export interface Place {
  readonly target: string;
  readonly device: string;
  /** What people call the device; null where nobody gave it a name. */
  readonly deviceName: string | null;
  readonly compiler: string;
  /** Bytes of the largest cache of one core; null where the device's description does not say. */
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
  /** Why it must not be used: index into `PageData.texts`, -1 where it may. */
  readonly failure: readonly number[];
  readonly ratio: readonly number[];
  /** 99% interval of `ratio`. */
  readonly low: readonly number[];
  readonly high: readonly number[];
  /** Of one execution. */
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
  /** Operations on numbers of one execution, and bytes of operands and result; null where only the key is known. */
  readonly flops: readonly (number | null)[];
  readonly bytes: readonly (number | null)[];
}

/** How one search went. */
export interface SearchCurve {
  /** Index of the record. */
  readonly record: number;
  /** Trials with a time, and those without one by what came of them. */
  readonly measured: number;
  readonly failed: Readonly<Record<string, number>>;
  /** Where the best so far changed: number of the trial, from 1, and its ratio to the default. */
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
  /** By text, with what it is about in front: `skipped: dynamic dimensions`. */
  readonly reasons: Readonly<Record<string, number>>;
}

/** Something that is left to do at one place. */
export interface Task {
  /** Index into `PageData.places`. */
  readonly place: number;
  readonly kind: 'missing' | 'incomplete';
  readonly items: readonly TaskItem[];
  /** More of them than are listed. */
  readonly more: number;
  /** What to run there; null where it takes the program that they come from. */
  readonly command: string | null;
  /** What to run where the program is at hand. */
  readonly programCommand: string;
  /** How many of the items the first command tunes. */
  readonly covered: number;
}

export interface TaskItem {
  readonly workload: string;
  readonly note: string;
}

/** Of `bench:kernels`. Rates are in GFLOP/s, medians of the rounds; null for what could not be measured. */
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
  /** The median of all shapes' peaks. */
  readonly peak: number | null;
}

export const VARIANTS = ['stock', 'tuned', 'dataTiling', 'openblas', 'mkl'] as const;
export type Variant = (typeof VARIANTS)[number];

/** Of `bench:models`. */
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
  /** Stock time over tuned time with its 99% interval; null where they were not timed. */
  readonly timing: {
    readonly ratio: number;
    readonly low: number;
    readonly high: number;
    readonly seconds: readonly [stock: number, tuned: number];
  } | null;
  /** Shares of the stock program's time; each is part of the one before. */
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
    /** The filters in words; empty for none. */
    readonly filter: string;
  };
  readonly texts: readonly string[];
  readonly places: readonly Place[];
  readonly workloads: WorkloadColumns;
  readonly records: RecordColumns;
  readonly searches: readonly SearchCurve[];
  /** Searches that have trials and are left out, and records without any trials. */
  readonly searchesLeftOut: number;
  readonly drift: readonly DriftPair[];
  readonly statistics: Statistics;
  readonly history: readonly Day[];
  readonly tasks: readonly Task[];
  readonly kernels: KernelsData | null;
  readonly models: ModelsData | null;
}
