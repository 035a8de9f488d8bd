// A tuning spec: a transform-dialect module that the compiler reads beside the untouched input.
import type { Configuration } from '../space/configuration.ts';
import { compilationInfo, type Release } from '../space/render.ts';
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

function matcher(entry: SpecForm, name: string, info: string): string {
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
    %config = transform.param.constant ${info} -> !transform.any_param
    transform.yield %op, %config : !transform.any_op, !transform.any_param
  }`;
}

/** Text of the spec; null when no entry has anything to say. Entries for the same form must not contradict. */
export function tuningSpec(entries: readonly SpecEntry[], release: Release): string | null {
  const matchers = new Map<string, string>();
  for (const entry of entries) {
    if (entry.configuration.kind !== 'tile') continue;
    const name = `match_${matchers.size}`;
    const info = compilationInfo(entry.configuration, entry.loops, release);
    const key = matcher(entry, 'match', info);
    if (!matchers.has(key)) matchers.set(key, matcher(entry, name, info));
  }
  if (matchers.size === 0) return null;
  const pairs = [...matchers.keys()].map((_, i) => `      @match_${i} -> @apply`).join(',\n');
  return `module @iree_tuned_spec attributes {transform.with_named_sequence, iree_codegen.tuning_spec_with_default_entrypoint} {
  transform.named_sequence @apply(%op: !transform.any_op {transform.readonly}, %config: !transform.any_param {transform.readonly}) {
    transform.annotate %op "compilation_info" = %config : !transform.any_op, !transform.any_param
    transform.yield
  }
${[...matchers.values()].join('\n')}
  transform.named_sequence @__kernel_config(%root: !transform.any_op {transform.consumed}) -> !transform.any_op attributes {iree_codegen.tuning_spec_entrypoint} {
    %done = transform.foreach_match in %root
${pairs}
      : (!transform.any_op) -> !transform.any_op
    transform.yield %done : !transform.any_op
  }
}
`;
}

/** Equal for two forms exactly when one matcher would match the operations of both. */
export function matchKey(form: SpecForm): string {
  return matcher(form, 'match', '');
}
