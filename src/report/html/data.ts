// The data of the page's script: plain JSON.
import type { DeviceRates, ProgramLoss } from '../loss.ts';
import type { Models } from './bench-models.ts';

/** A site of measurements. The keys are separate for the filters. */
export interface Place {
  readonly target: string;
  readonly device: string;
  /** Name of the device, else its key. */
  readonly deviceName: string;
  readonly compiler: string;
  readonly rates: DeviceRates;
}

export const OUTCOMES = ['faster', 'default is best', 'must not be used'] as const;
export type Outcome = (typeof OUTCOMES)[number];

export interface PageRecord {
  /** Key of the workload. */
  readonly key: string;
  /** Short name, element types and kind of the workload. */
  readonly shape: string;
  readonly types: string;
  readonly shapeClass: string;
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
  /** `2026-01-31 23:59`, UTC. */
  readonly written: string;
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
  readonly items: readonly { readonly workload: string; readonly shape: string; readonly note: string }[];
  /** Number of unlisted items. */
  readonly more: number;
  /** Ways to do the work: a condition, and the command. */
  readonly commands: readonly { readonly how: string; readonly command: string }[];
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
  readonly tasks: readonly Task[];
  /** Results of `bench:models`; null without its file. */
  readonly models: Models | null;
}
