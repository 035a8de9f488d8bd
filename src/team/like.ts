// Questions for trials of similar workloads, and their answers.
import { isDevice } from '../backend/device.ts';
import type { Line } from '../store/exchange/lines.ts';
import {
  distanceOf,
  MOST_SUBJECTS,
  MOST_TRIALS,
  OTHER_COMPILER,
  OTHER_DEVICE,
  WIDTH,
  type TrialAlike,
} from '../store/like.ts';
import type { Subject } from '../store/store.ts';
import { keysOf } from '../store/subject.ts';
import { storedForm, type Workload } from '../workload/workload.ts';
import type { Json } from './read-fleet.ts';

type Asked = Omit<Subject, 'targetForm' | 'compilerForm'>;

/** The argument of the server's function `trials_like`. */
export const likenessOf = (subject: Asked): Json => ({
  ...keysOf(subject),
  form: JSON.stringify(storedForm(subject.workloadForm)),
  ...{ alike: familyOf(subject.deviceForm), width: WIDTH, subjects: MOST_SUBJECTS, trials: MOST_TRIALS },
  ...{ otherDevice: OTHER_DEVICE, otherCompiler: OTHER_COMPILER },
});

/** The fields that devices of one class share; null for a device without a processor. */
function familyOf(form: unknown): Json | null {
  if (!isDevice(form) || form.processor === undefined) return null;
  const { architecture, vendor, family, model } = form.processor;
  return { driver: form.driver, threads: form.threads, processor: { architecture, vendor, family, model } };
}

/** Trials whose workloads are among the lines, in their order. Ignores lines that the question did not ask for. */
export function trialsAlike(lines: readonly Line[], subject: Asked): TrialAlike[] {
  const forms = new Map(
    lines.flatMap((line) => (line.type === 'workload' ? [[line.key, line.form as Workload] as const] : [])),
  );
  return lines.flatMap((line) => {
    const workload = line.type === 'trial' ? forms.get(line.workload) : undefined;
    if (line.type !== 'trial' || workload === undefined || line.target !== subject.target) return [];
    const { device, compiler, configuration, outcome, seconds, ratio, message, strategy } = line;
    const distance = distanceOf(subject, { workload, device, compiler });
    const trial = { configuration, outcome, seconds, ratio, message, strategy };
    const about = JSON.stringify([line.workload, device, compiler]);
    return distance < Infinity && ratio !== null
      ? [{ subject: about, workload, device, compiler, distance, trial }]
      : [];
  });
}
