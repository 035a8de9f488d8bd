// The data of the page's script: plain JSON.
import type { Evidence, TuningRecord } from '../../store/store.ts';
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
  readonly kind: string;
  readonly outcome: (typeof OUTCOMES)[number];
  /** Floating-point or integer operations of one execution, and bytes of operands and result; null if only the key is known. */
  readonly flops: number | null;
  readonly bytes: number | null;
  /** Least time of one execution by the rates of its place; null if a rate or the work is unknown, or sizes are dynamic. */
  readonly bound: number | null;
}

export interface PageLoss extends ProgramLoss {
  readonly name: string;
  /** Index into `PageData.places`. */
  readonly place: number;
  /** The sums, and the rates behind the bounds. */
  readonly summary: string;
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
}
