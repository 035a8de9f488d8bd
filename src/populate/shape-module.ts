// Writes shapes as a program, so that the compiler sees them as in a model.
import { isFloat } from '../workload/element-type.ts';
import type { Contraction } from '../workload/contraction/contraction.ts';
import { operationText, tensorType } from '../workload/contraction/text.ts';
import { contractionOf, type Shape } from './shape.ts';

/**
 * A module with a function for each shape, in order, with one operation each. A constant right-hand side is a parameter: a constant
 * without data in the text. The parameter file need not exist.
 */
export function shapeModule(shapes: readonly Shape[]): string {
  const functions = shapes.map((shape, i) => functionOf(contractionOf(shape), i));
  return `module {\n${functions.join('\n')}\n}\n`;
}

function functionOf(workload: Contraction, i: number): string {
  const [lhs, rhs, result] = [workload.lhs, workload.rhs, workload.accumulator].map((operand) =>
    tensorType(workload, operand),
  );
  const { elementType } = workload.accumulator;
  const { constantRhs } = workload;
  const weight = `weight_${i}`;
  return [
    ...(constantRhs
      ? [`util.global private @${weight} = #flow.parameter.named<"shapes"::"${weight}"> : ${rhs!}`]
      : []),
    `func.func @shape_${i}(%lhs: ${lhs!}${constantRhs ? '' : `, %rhs: ${rhs!}`}) -> ${result!} {`,
    ...(constantRhs ? [`  %rhs = util.global.load @${weight} : ${rhs!}`] : []),
    `  %zero = arith.constant ${isFloat(elementType) ? '0.0' : '0'} : ${elementType}`,
    `  %empty = tensor.empty() : ${result!}`,
    `  %init = linalg.fill ins(%zero : ${elementType}) outs(%empty : ${result!}) -> ${result!}`,
    operationText(workload, null),
    `  return %result : ${result!}`,
    '}',
  ].join('\n');
}
