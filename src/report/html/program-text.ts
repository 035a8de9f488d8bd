// A program that tunes workloads: one function for each, from its sizes and types.
import { isFloat } from '../../workload/element-type.ts';
import { operationText, tensorType } from '../../workload/contraction/text.ts';
import { isDynamic, isSelfContained, type OperationWork, type Workload } from '../../workload/workload.ts';

/** Whether a program can be written for a workload. A dispatch exists only in its own program. */
export const isWritable = (workload: Workload): workload is OperationWork =>
  isSelfContained(workload) && !isDynamic(workload);

/** MLIR text whose operations have these workloads: static sizes, no context. */
export const programText = (workloads: readonly OperationWork[]): string =>
  workloads
    .map((workload, i) => {
      const { elementType } = workload.rhs;
      return functionText(workload, `w${i}`, `arith.constant dense<${isFloat(elementType) ? '1.0' : '1'}>`);
    })
    .join('\n');

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
