// Trials of similar workloads: the measure of similarity, and limits.
import { configurationText } from '../backend/index.ts';
import { deviceClass } from '../backend/device.ts';
import type { Workload } from '../workload/workload.ts';
import type { RecordKey, Store, Trial } from './store.ts';

/** A subject that is similar to another, and its fastest trials. */
export interface Neighbour extends Pick<RecordKey, 'device' | 'compiler'> {
  readonly workload: Workload;
  /** In doublings of sizes, plus penalties for another device or compiler. */
  readonly distance: number;
  /** Measured trials, the fastest first, each configuration once. */
  readonly trials: readonly Trial[];
}

/** Penalties in doublings of one size. */
export const OTHER_DEVICE = 0.5;
export const OTHER_COMPILER = 0.25;

/** Number of workloads to consider on each side of a subject's place in the index. */
export const WIDTH = 64;

/** Limits of subjects, and of trials of each. */
export const MOST_SUBJECTS = 8;
export const MOST_TRIALS = 8;

/** A device and others of its class. */
export function siblingsOf(device: string, form: unknown, store: Pick<Store, 'devices'>): string[] {
  const own = deviceClass(form);
  if (own === null) return [device];
  const others = store.devices().filter((one) => one.key !== device && deviceClass(one.form) === own);
  return [device, ...others.map(({ key }) => key)];
}

/** A trial with its subject. */
export interface TrialAlike extends Omit<Neighbour, 'trials'> {
  /** Equal for trials of one subject. */
  readonly subject: string | number;
  readonly trial: Trial;
}

/** Groups trials by subject. The first trial of each configuration stays. */
export function neighboursIn(found: readonly TrialAlike[]): Neighbour[] {
  const bySubject = Map.groupBy(found, ({ subject }) => subject);
  return [...bySubject.values()].map((own) => {
    const { workload, device, compiler, distance } = own[0]!;
    const byConfiguration = Map.groupBy(own, ({ trial }) => configurationText(trial.configuration));
    const trials = [...byConfiguration.values()].map(([first]) => first!.trial);
    return { workload, device, compiler, distance, trials };
  });
}
