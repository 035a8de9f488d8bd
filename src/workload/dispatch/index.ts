// Whole dispatches as a kind of work, for all work but contractions. They are measured only in their program.
import type { KindOfWork } from '../kind.ts';
import { dispatchAtSizes, dispatchIterations, dispatchKey, type DispatchWork } from './dispatch-work.ts';
import { isDispatchWork } from './schema.ts';

export const dispatches: KindOfWork<DispatchWork> = {
  key: dispatchKey,
  isWorkload: isDispatchWork,
  atSizes: dispatchAtSizes,
  // The program is run at all sizes.
  staticForms: (workload) => [workload],
  flops: dispatchIterations,
  bytes: ({ bytes }) => bytes,
  likelyCost: dispatchIterations,
  isBoundByMemory: () => false,
  dispatch: ({ digest }) => digest,
  kin: ({ pipeline, dimensions, parts, elementType, matrix }) =>
    JSON.stringify([pipeline, dimensions, parts, elementType, ...(matrix ? [matrix] : [])]),
  structure: ({ pipeline, dimensions, parts, elementType, lane, matrix }) =>
    JSON.stringify([
      pipeline,
      dimensions.map(({ kind }) => kind),
      parts,
      elementType,
      lane,
      ...(matrix ? [matrix] : []),
    ]),
  resultType: ({ elementType }) => elementType,
  stored: (workload) => workload,
};
