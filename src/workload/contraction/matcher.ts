// Matchers of the transform dialect for the forms of contractions.
import type { Form } from '../kind.ts';
import type { Contraction, DimensionKind, OperandForm } from './contraction.ts';

type ContractionForm = Form<Contraction>;

/** The compiler's number for a dynamic size. (-1 in a matcher stands for any size, static or dynamic.) */
const DYNAMIC = '-9223372036854775808';

/** Sizes of all dimensions of one kind, in the order of the operation's loops. */
function sizes(entry: ContractionForm, kind: DimensionKind): string {
  const dimensions = entry.loops.map((d) => entry.workload.dimensions[d]!);
  return dimensions
    .filter((d) => d.kind === kind)
    .map(({ size, sizes }) => (sizes === undefined ? size : DYNAMIC))
    .join(', ');
}

function map(entry: ContractionForm, operand: OperandForm): string {
  const loops = entry.loops.map((_, i) => `d${i}`).join(', ');
  const results = operand.dimensions.map((d) => `d${entry.loops.indexOf(d)}`).join(', ');
  return `affine_map<(${loops}) -> (${results})>`;
}

/**
 * Text of a matcher for the operations of one form.
 * @param value of the attribute for these operations, as text
 */
export function contractionMatcher(entry: ContractionForm, name: string, value: string): string {
  const { lhs, rhs, accumulator } = entry.workload;
  const maps = [lhs, rhs, accumulator].map((operand) => map(entry, operand)).join(', ');
  return `  transform.named_sequence @${name}(%op: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.iree.match.has_no_lowering_config %op : !transform.any_op
    %b, %m, %n, %k = transform.iree.match.contraction %op, lhs_type = ${lhs.elementType}, rhs_type = ${rhs.elementType}, output_type = ${accumulator.elementType},
      indexing_maps = [${maps}] : !transform.any_op -> !transform.param<i64>
    transform.iree.match.dims_equal %b, [${sizes(entry, 'batch')}] : !transform.param<i64>
    transform.iree.match.dims_equal %m, [${sizes(entry, 'm')}] : !transform.param<i64>
    transform.iree.match.dims_equal %n, [${sizes(entry, 'n')}] : !transform.param<i64>
    transform.iree.match.dims_equal %k, [${sizes(entry, 'k')}] : !transform.param<i64>
    %value = transform.param.constant ${value} -> !transform.any_param
    transform.yield %op, %value : !transform.any_op, !transform.any_param
  }`;
}
