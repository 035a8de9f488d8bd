// Whole dispatches as a kind of work, for all work but contractions. They are measured only in their program.
import type { KindOfWork } from '../kind.ts';
import { dispatchAtSizes, dispatchIterations, dispatchKey, type DispatchWork } from './dispatch-work.ts';
import { isDispatchWork } from './schema.ts';

export const dispatches: KindOfWork<DispatchWork> = {
  needsProgram: true,
  hasRoot: false,
  // The program is run at all sizes.
  joinsRounds: () => true,
  withoutDispatch: () => null,
  hasStrides: () => false,
  key: dispatchKey,
  isWorkload: isDispatchWork,
  atSizes: dispatchAtSizes,
  staticForms: (workload) => [workload],
  flops: dispatchIterations,
  amount: ({ bytes }) => ({ multiplications: null, type: null, bytes: bytes === 0 ? null : bytes }),
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
  matchKey: dispatchKey,
  inputType: ({ elementType }) => elementType,
  resultType: ({ elementType }) => elementType,
  tensorSizes: () => null,
  hasConstants: () => false,
  stored: (workload) => workload,
};
