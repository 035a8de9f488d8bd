// Writes shapes as a program, so that the compiler sees them as in a model.
import { functionText } from '../report/html/program-text.ts';
import { tensorType } from '../workload/contraction/text.ts';
import { contractionOf, type Shape } from './shape.ts';

/**
 * A module with a function for each shape, in order, with one operation each. A constant right-hand side is a parameter: a constant
 * without data in the text. The parameter file need not exist.
 */
export function shapeModule(shapes: readonly Shape[]): string {
  const functions = shapes.flatMap((shape, i) => {
    const workload = contractionOf(shape);
    const weight = `@weight_${i}`;
    const parameter = `#flow.parameter.named<"shapes"::"weight_${i}"> : ${tensorType(workload, workload.rhs)}`;
    return [
      ...(workload.constantRhs ? [`util.global private ${weight} = ${parameter}`] : []),
      functionText(workload, `shape_${i}`, `util.global.load ${weight}`),
    ];
  });
  return `module {\n${functions.join('\n')}\n}\n`;
}
