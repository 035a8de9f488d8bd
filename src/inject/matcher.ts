// Matchers of the transform dialect: which operations an attribute is meant for, told by their form.
import type { Configuration } from '../space/configuration.ts';
import type { OperandForm, Workload } from '../workload/workload.ts';

/** All contractions of this form with loops in this order. */
export interface SpecForm {
  readonly workload: Workload;
  readonly loops: readonly number[];
}

/** One matcher and what it gives to the operations that it matches. */
export interface SpecEntry extends SpecForm {
  readonly configuration: Configuration;
}

/** Sizes of all dimensions of one kind, in the order in which the operation's loops run over them. */
function sizes(entry: SpecForm, kind: 'batch' | 'm' | 'n' | 'k'): string {
  const dimensions = entry.loops.map((d) => entry.workload.dimensions[d]!);
  return dimensions
    .filter((d) => d.kind === kind)
    .map(({ size }) => size)
    .join(', ');
}

function map(entry: SpecForm, operand: OperandForm): string {
  const loops = entry.loops.map((_, i) => `d${i}`).join(', ');
  const results = operand.dimensions.map((d) => `d${entry.loops.indexOf(d)}`).join(', ');
  return `affine_map<(${loops}) -> (${results})>`;
}

/**
 * A matcher for the operations of one form.
 * @param value the attribute that it gives to them, as text
 */
export function matcher(entry: SpecForm, name: string, value: string): string {
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

/** Equal for two forms exactly when one matcher would match the operations of both. */
export function matchKey(form: SpecForm): string {
  return matcher(form, 'match', '');
}
