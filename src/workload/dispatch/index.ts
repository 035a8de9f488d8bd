// Dispatches as a kind of work: whatever the compiler generates code for in one piece and that is no contraction. They are
// measured in their program, and nowhere else.
import type { KindOfWork } from '../kind.ts';
import {
  dispatchAtSizes,
  dispatchIterations,
  dispatchKey,
  isDynamicDispatch,
  type DispatchWork,
} from './dispatch-work.ts';
import { isDispatchWork } from './schema.ts';

export const dispatches: KindOfWork<DispatchWork> = {
  key: dispatchKey,
  isWorkload: isDispatchWork,
  rank: ({ dimensions }) => dimensions.length,
  isDynamic: isDynamicDispatch,
  atSizes: dispatchAtSizes,
  // All sizes are those of one program.
  staticForms: (workload) => [workload],
  flops: dispatchIterations,
  bytes: ({ bytes }) => bytes,
  likelyCost: dispatchIterations,
  isBoundByMemory: () => false,
  dispatch: ({ digest }) => digest,
  kin: ({ pipeline, dimensions, parts, elementType }) =>
    JSON.stringify([pipeline, dimensions, parts, elementType]),
  structure: ({ pipeline, dimensions, parts, elementType, lane }) =>
    JSON.stringify([pipeline, dimensions.map(({ kind }) => kind), parts, elementType, lane]),
  resultType: ({ elementType }) => elementType,
  stored: (workload) => workload,
};
