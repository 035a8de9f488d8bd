// Text of a module of candidates: operands that all of them share, and the function of each.
import { isFloat } from '../element-type.ts';
import type { CandidateFunction } from '../kind.ts';
import type { Contraction } from './contraction.ts';
import {
  declaration,
  emptyResult,
  fillersOf,
  initializer,
  load,
  operandsOf,
  resultSizes,
  type Operand,
} from './operands.ts';
import type { Filler } from '../fillers.ts';
import { guardedReturn, guardedSignature } from '../guarded.ts';
import { operationText, tensorType } from './text.ts';

/** All of the workload's, each once. */
function distinctOperands(workload: Contraction): Operand[] {
  const combinations = operandsOf(workload);
  // All left-hand sides first: a constant, which has no buffer, comes last.
  const byName = new Map(
    (['lhs', 'rhs'] as const).flatMap((name) =>
      combinations.map((combination) => [combination[name].global, combination[name]] as const),
    ),
  );
  return [...byName.values()];
}

/** What fills them. */
export const operandFillers = (workload: Contraction): Filler[] => fillersOf(distinctOperands(workload));

/** Declarations of all operands, and what fills them when the module is loaded. */
export function operandsText(workload: Contraction): string {
  const operands = distinctOperands(workload);
  return `${operands.map(declaration).join('\n')}\n${initializer(operands)}`;
}

/** A function that multiplies the operands of one static form. */
export function functionText(
  workload: Contraction,
  { name, form, attribute, resultType, isGuarded }: CandidateFunction,
): string {
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
