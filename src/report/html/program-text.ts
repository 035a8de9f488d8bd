// A function that computes one workload, from its sizes and types.
import { isFloat } from '../../workload/element-type.ts';
import { operationText, tensorType } from '../../workload/contraction/text.ts';
import type { OperationWork } from '../../workload/workload.ts';

/**
 * A function with one operation.
 * @param constant the operation that gives a constant right-hand side, without its type
 */
export function functionText(workload: OperationWork, name: string, constant: string): string {
  const { lhs, rhs, accumulator, constantRhs } = workload;
  const [lhsType, rhsType, type] = [lhs, rhs, accumulator].map((one) => tensorType(workload, one)) as [
    string,
    string,
    string,
  ];
  const zero = isFloat(accumulator.elementType) ? '0.0' : '0';
  const parameters = constantRhs ? `%lhs: ${lhsType}` : `%lhs: ${lhsType}, %rhs: ${rhsType}`;
  return [
    `func.func @${name}(${parameters}) -> ${type} {`,
    ...(constantRhs ? [`  %rhs = ${constant} : ${rhsType}`] : []),
    `  %zero = arith.constant ${zero} : ${accumulator.elementType}`,
    `  %empty = tensor.empty() : ${type}`,
    `  %init = linalg.fill ins(%zero : ${accumulator.elementType}) outs(%empty : ${type}) -> ${type}`,
    operationText(workload, null),
    `  return %result : ${type}`,
    '}',
  ].join('\n');
}
