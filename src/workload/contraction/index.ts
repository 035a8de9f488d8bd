// Contractions as a kind of work: matmuls, convolutions and other multiply-adds.
import type { KindOfOperation } from '../kind.ts';
import { isNarrowFloat } from '../element-type.ts';
import { atSizes } from './at-sizes.ts';
import { functionText, operandFillers, operandsText } from './candidate.ts';
import { dispatchFillers, dispatchFunctionText, dispatchOperandsText } from './dispatch-candidate.ts';
import { contractionKin } from './kin.ts';
import { haveSameDimensions, isMadeOf, isSameWork } from './compare.ts';
import { contractionFlops, contractionKey, isDynamic, staticForms, type Contraction } from './contraction.ts';
import { formOf, mayBecomeContraction, readContraction, rootOf } from './from-operation.ts';
import { contractionMatcher } from './matcher.ts';
import { canCompareFull, fullAllowance } from './rounding.ts';
import { isContraction } from './schema.ts';
import { contractionBytes, isBoundByMemory, likelyCost } from './traffic.ts';

export const contractions: KindOfOperation<Contraction> = {
  read: readContraction,
  generated(operation) {
    const form = formOf(operation, (type) => type);
    return 'skipped' in form ? null : form;
  },
  root: rootOf,
  mayBecome: mayBecomeContraction,
  key: contractionKey,
  isWorkload: isContraction,
  rank: ({ dimensions }) => dimensions.length,
  matcher: contractionMatcher,
  isDynamic,
  atSizes,
  staticForms,
  flops: contractionFlops,
  bytes: contractionBytes,
  likelyCost,
  isBoundByMemory,
  dispatch: ({ context }) => context?.digest ?? null,
  isSameWork,
  isMadeOf,
  areTiledAlike: haveSameDimensions,
  kin: contractionKin,
  structure: ({ dimensions, lhs, rhs, accumulator, windows }) =>
    JSON.stringify([dimensions.map(({ kind }) => kind), lhs, rhs, accumulator, windows]),
  // In a dispatch, a constant is an ordinary operand.
  withInput: (made, { constantRhs }) => (made.context === undefined ? { ...made, constantRhs } : made),
  hasConstants: ({ constantRhs }) => constantRhs,
  resultType: ({ accumulator, context }) => (context?.dispatch?.arguments.at(-1) ?? accumulator).elementType,
  // Sums of small integers are exact in f32. The other work of a dispatch has fixed types.
  exactType: ({ accumulator, context }) =>
    isNarrowFloat(accumulator.elementType) && context === undefined ? 'f32' : null,
  candidateLoops: ({ dimensions, context }) => context?.dispatch?.loops ?? [...dimensions.keys()],
  candidatePhase: ({ context }) => (context === undefined ? null : 'flow'),
  stored: ({ context, ...workload }) =>
    context === undefined ? workload : { ...workload, context: { digest: context.digest } },
  fillers: (workload) =>
    workload.context?.dispatch === undefined
      ? operandFillers(workload)
      : dispatchFillers(workload.context.dispatch),
  operandsText: (workload) =>
    workload.context?.dispatch === undefined
      ? operandsText(workload)
      : dispatchOperandsText(workload, workload.context.dispatch),
  functionText: (workload, candidate) =>
    workload.context?.dispatch === undefined
      ? functionText(workload, candidate)
      : dispatchFunctionText(workload.context.dispatch, candidate),
  canCompareFull,
  fullAllowance,
};
