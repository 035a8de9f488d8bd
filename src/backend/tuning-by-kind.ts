// Each kind of work has its own part of a backend.
import { EMPTY_SPACE } from '../search/space.ts';
import type { DispatchWork } from '../workload/dispatch/dispatch-work.ts';
import { isOperationWork, type OperationWork, type Workload } from '../workload/workload.ts';
import type { Tuning } from './backend.ts';

/** The part of a backend about all workloads. */
export function tuningByKind(
  contraction: Tuning<OperationWork>,
  dispatch: Tuning<DispatchWork> = NO_DISPATCHES,
): Tuning {
  const of = (workload: Workload): Tuning => (isOperationWork(workload) ? contraction : dispatch);
  return {
    unsupported: (workload) => of(workload).unsupported(workload),
    familiesOf: (workload, options) => of(workload).familiesOf(workload, options),
    spaceOf: (workload, options) => of(workload).spaceOf(workload, options),
    featuresOf: (workload, ...rest) => of(workload).featuresOf(workload, ...rest),
    isRestrictable: (workload) => of(workload).isRestrictable(workload),
    illegalValues: (workload, options) => of(workload).illegalValues(workload, options),
    knobValues: (workload, configuration) => of(workload).knobValues(workload, configuration),
  };
}

/** Whole dispatches have no knobs of users, and no prior. */
export const WITHOUT_USER_KNOBS = {
  featuresOf: () => null,
  isRestrictable: () => false,
  illegalValues: () => [],
} satisfies Partial<Tuning<DispatchWork>>;

/** For backends without whole dispatches. */
const NO_DISPATCHES: Tuning<DispatchWork> = {
  ...WITHOUT_USER_KNOBS,
  unsupported: () => 'whole dispatches',
  familiesOf: () => [],
  spaceOf: () => EMPTY_SPACE,
  knobValues: () => ({}),
};
