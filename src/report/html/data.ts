// The data of the page's script: plain JSON.
import type { Evidence, Miss, TuningRecord } from '../../store/store.ts';
import type { DeviceRates, ProgramLoss } from '../loss.ts';

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

/** A record. For a default that is best, `seconds` are those of the default. */
export interface PageRecord
  extends Evidence, Pick<TuningRecord, 'workload' | 'failure' | 'createdBy' | 'machine' | 'createdAt'> {
  /** Short name, element types and kind of the workload. */
  readonly shape: string;
  readonly types: string;
  readonly shapeClass: string;
  /** Index into `PageData.places`. */
  readonly place: number;
  readonly configuration: string;
  /** Kind of the configuration. */
  readonly kind: string;
  readonly outcome: (typeof OUTCOMES)[number];
  /** Floating-point or integer operations of one execution, and bytes of operands and result; null if only the key is known. */
  readonly flops: number | null;
  readonly bytes: number | null;
  /** Least time of one execution by the rates of its place; null if a rate or the work is unknown, or sizes are dynamic. */
  readonly bound: number | null;
  /** Null without trials, and for records beyond the largest number of curves. */
  readonly search: Search | null;
  /** Index of the record of the same workload, target and device with the previous compiler; null for none. */
  readonly previous: number | null;
}

/** The curve of one search. */
export interface Search {
  /** Number of timed trials, and of the others by outcome. */
  readonly measured: number;
  readonly failed: Readonly<Record<string, number>>;
  /** Improvements: number of the trial, from 1, and the default's time over its time. */
  readonly steps: readonly (readonly [trial: number, ratio: number])[];
}

/** A timed program. */
export interface PageLoss extends ProgramLoss {
  readonly name: string;
  /** Index into `PageData.places`. */
  readonly place: number;
  /** The sums, and the rates behind the bounds. */
  readonly summary: string;
}

/** A workload without a record. */
export interface PageMiss extends Pick<Miss, 'workload' | 'count' | 'lastSeenAt'> {
  readonly shape: string;
  /** Index into `PageData.places`. */
  readonly place: number;
  /** Why a search could not decide; null without such a search. */
  readonly undecided: string | null;
  /** Ways to tune it: a condition, and the command. */
  readonly commands: readonly { readonly how: string; readonly command: string }[];
}

export interface PageData {
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
  readonly misses: readonly PageMiss[];
}
