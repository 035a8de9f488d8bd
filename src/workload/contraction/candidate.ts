// Text of a module of candidates: shared operands, and a function for each candidate. Here are contractions that are measured alone;
// `dispatch-candidate.ts` has those that are measured in a dispatch.
import { isFloat, isNarrowFloat } from '../element-type.ts';
import type { CandidateFunction } from '../kind.ts';
import type { Contraction } from './contraction.ts';
import { dispatchFillers, dispatchFunctionText, dispatchOperandsText } from './dispatch-candidate.ts';
import {
  declaration,
  emptyResult,
  initializer,
  load,
  operandFiller,
  operandsOf,
  resultSizes,
  type Operand,
} from './operands.ts';
import { distinctFillers, type Filler } from '../fillers.ts';
import { guardedReturn, guardedSignature } from '../guarded.ts';
import { operationText, tensorType } from './text.ts';

/** The operands of all static forms, each once. */
function distinctOperands(workload: Contraction): Operand[] {
  const combinations = operandsOf(workload);
  // A constant has no buffer and comes last, so the left-hand sides come first.
  const byName = new Map(
    (['lhs', 'rhs'] as const).flatMap((name) =>
      combinations.map((combination) => [combination[name].global, combination[name]] as const),
    ),
  );
  return [...byName.values()];
}

/** For each loop of a candidate's operation, outermost first, the index of its dimension in the workload. */
export const candidateLoops = ({ dimensions, context }: Contraction): readonly number[] =>
  context?.dispatch?.loops ?? [...dimensions.keys()];

/** The compiler phase after which the functions of candidates are valid text; null for input text. */
export const candidatePhase = ({ context }: Contraction): string | null =>
  context === undefined ? null : 'flow';

/** Whether executions rotate through several buffers of an operand, because the program reads its weights from memory. */
export const rotates = ({ context }: Contraction): boolean =>
  context?.dispatch?.arguments.some(({ buffers }) => buffers > 1) ?? false;

/**
 * A wider type with exact results; null if the result type is exact, or if no type is. Sums of small integers are exact in f32. The other
 * work of a dispatch has fixed types.
 */
export const exactTypeOf = ({ accumulator, context }: Contraction): string | null =>
  isNarrowFloat(accumulator.elementType) && context === undefined ? 'f32' : null;

/** The fillers of all operands, each once. */
export function fillersOf(workload: Contraction): Filler[] {
  const dispatch = workload.context?.dispatch;
  return distinctFillers(
    dispatch ? dispatchFillers(dispatch) : distinctOperands(workload).map(operandFiller),
  );
}

/** Text of the operands of all static forms. Calls of fillers in another module fill them when the module is loaded. */
export function operandsText(workload: Contraction): string {
  const dispatch = workload.context?.dispatch;
  if (dispatch !== undefined) return dispatchOperandsText(workload, dispatch);
  const operands = distinctOperands(workload);
  return `${operands.map(declaration).join('\n')}\n${initializer(operands)}`;
}

/** Text of a function that does the work on the operands of one static form. */
export function functionText(workload: Contraction, candidate: CandidateFunction): string {
  const dispatch = workload.context?.dispatch;
  if (dispatch !== undefined) return dispatchFunctionText(dispatch, candidate);
  const { name, form, attribute, resultType, isGuarded } = candidate;
  const own = { ...workload, accumulator: { ...workload.accumulator, elementType: resultType } };
  const { lhs, rhs } = operandsOf(workload)[form]!;
  const type = tensorType(own, own.accumulator);
  const shape = own.accumulator.dimensions.map((d) => lhs.filled.dimensions[d]!.size);
  return `${isGuarded ? guardedSignature(name) : `func.func @${name}() -> ${type}`} {
${load(workload, lhs)}
${load(workload, rhs)}
  %zero = arith.constant ${isFloat(resultType) ? '0.0' : '0'} : ${resultType}
  %empty = ${emptyResult(own)}
  %init = linalg.fill ins(%zero : ${resultType}) outs(%empty : ${type}) -> ${type}
${operationText(own, attribute)}
${isGuarded ? guardedReturn({ shape, elementType: resultType }, { type, sizes: resultSizes(own) }) : `  return %result : ${type}`}
}`;
}
