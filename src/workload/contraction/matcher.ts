// Matchers of the transform dialect for the forms of contractions.
import type { MatchedForm } from '../kind.ts';
import { KIND_ORDER, type DimensionKind } from '../sizes.ts';
import { mapsText } from './text.ts';

/** The compiler's number for a dynamic size. (-1 in a matcher stands for any size, static or dynamic.) */
const DYNAMIC = '-9223372036854775808';

/** Sizes of all dimensions of one kind, in the order of the operation's loops. */
const sizesOf = ({ workload, loops }: MatchedForm, kind: DimensionKind): string =>
  loops
    .map((d) => workload.dimensions[d]!)
    .filter((one) => one.kind === kind)
    .map(({ size, sizes }) => (sizes === undefined ? size : DYNAMIC))
    .join(', ');

/** Text of a matcher called `name` that gives the attribute `value` to the operations of a form. */
export function matcherOf(form: MatchedForm, name: string, value: string): string {
  const { workload, loops } = form;
  const { lhs, rhs, accumulator } = workload;
  const sizes = KIND_ORDER.map(
    (kind) =>
      `    transform.iree.match.dims_equal %${kind[0]!}, [${sizesOf(form, kind)}] : !transform.param<i64>\n`,
  );
  return `  transform.named_sequence @${name}(%op: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.iree.match.has_no_lowering_config %op : !transform.any_op
    %b, %m, %n, %k = transform.iree.match.contraction %op, lhs_type = ${lhs.elementType}, rhs_type = ${rhs.elementType}, output_type = ${accumulator.elementType},
      indexing_maps = [${mapsText(workload, loops)}] : !transform.any_op -> !transform.param<i64>
${sizes.join('')}    %value = transform.param.constant ${value} -> !transform.any_param
    transform.yield %op, %value : !transform.any_op, !transform.any_param
  }`;
}
