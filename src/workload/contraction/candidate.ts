// Text of a module of candidates for a contraction that is measured alone: shared operands, and a function for each candidate.
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

/** The fillers of all operands. */
export const operandFillers = (workload: Contraction): Filler[] => fillersOf(distinctOperands(workload));

/** Declarations of all operands, and the initializer that fills them. */
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
