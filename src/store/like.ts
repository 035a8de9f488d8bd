// Trials of workloads that are like one: how alike they have to be, and how many are told of.
import { configurationText } from '../backend/index.ts';
import { deviceClass } from '../backend/device.ts';
import { shapeOf } from '../workload/shape.ts';
import type { Workload } from '../workload/workload.ts';
import type { RecordKey, Store, Trial } from './store.ts';

/** A subject that is like another one, and the fastest that was tried for it. */
export interface Neighbour extends Pick<RecordKey, 'device' | 'compiler'> {
  readonly workload: Workload;
  /** In doublings of sizes, with something for another device and another compiler. */
  readonly distance: number;
  /** That were measured, the fastest first, each configuration once. */
  readonly trials: readonly Trial[];
}

/** As much as so many doublings of one size. */
export const OTHER_DEVICE = 0.5;
export const OTHER_COMPILER = 0.25;

/** Workloads that are looked at on either side of the place of one. */
export const WIDTH = 64;

/** Subjects that are told of, and trials of each. */
export const MOST_SUBJECTS = 8;
export const MOST_TRIALS = 8;

/** The subject's own device and others of its class. */
export function siblingsOf(device: string, form: unknown, store: Pick<Store, 'devices'>): string[] {
  const own = deviceClass(form);
  if (own === null) return [device];
  const others = store.devices().filter((one) => one.key !== device && deviceClass(one.form) === own);
  return [device, ...others.map(({ key }) => key)];
}

/** A trial with what it is about. */
export interface TrialAlike extends Omit<Neighbour, 'trials'> {
  /** Equal for trials of one subject. */
  readonly subject: string;
  readonly trial: Trial;
}

/** As `Store.trialsLike` measures it; infinite between workloads of another structure. */
export function distanceOf(
  subject: Place & { readonly workloadForm: Workload },
  other: Place & { readonly workload: Workload },
): number {
  const [own, theirs] = [shapeOf(subject.workloadForm), shapeOf(other.workload)];
  if (own.structure !== theirs.structure) return Infinity;
  return (
    Math.hypot(...own.sizes.map((size, i) => size - theirs.sizes[i]!)) +
    (subject.device === other.device ? 0 : OTHER_DEVICE) +
    (subject.compiler === other.compiler ? 0 : OTHER_COMPILER)
  );
}

type Place = Pick<RecordKey, 'device' | 'compiler'>;

/** Trials of one subject after the other. */
export function neighboursIn(found: readonly TrialAlike[]): Neighbour[] {
  const bySubject = Map.groupBy(found, ({ subject }) => subject);
  return [...bySubject.values()].map((own) => {
    const { workload, device, compiler, distance } = own[0]!;
    const trials = new Map<string, Trial>();
    for (const { trial } of own) {
      const text = configurationText(trial.configuration);
      if (!trials.has(text)) trials.set(text, trial);
    }
    return { workload, device, compiler, distance, trials: [...trials.values()] };
  });
}
