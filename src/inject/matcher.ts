// Matchers of the transform dialect: which operations an attribute is meant for, told by their form, and what gives it
// to them.
import type { OperandForm, Workload } from '../workload/workload.ts';

/** All contractions of this form with loops in this order. */
export interface SpecForm {
  readonly workload: Workload;
  readonly loops: readonly number[];
}

/** The compiler's number for a dynamic size. (A matcher takes -1 for any size, static ones included.) */
const DYNAMIC = '-9223372036854775808';

/** Sizes of all dimensions of one kind, in the order in which the operation's loops run over them. */
function sizes(entry: SpecForm, kind: 'batch' | 'm' | 'n' | 'k'): string {
  const dimensions = entry.loops.map((d) => entry.workload.dimensions[d]!);
  return dimensions
    .filter((d) => d.kind === kind)
    .map(({ size, sizes }) => (sizes === undefined ? size : DYNAMIC))
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
function matcher(entry: SpecForm, name: string, value: string): string {
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

/** An attribute for the operations of one form. */
export interface Annotation {
  readonly form: SpecForm;
  readonly attribute: string;
  /** The attribute's value, as text. */
  readonly value: string;
}

/** A matcher's text for a given name, and the attribute that it gives. */
export interface Rule {
  readonly attribute: string;
  matcher(name: string): string;
}

/** One rule for each form: the first annotation of it. */
export function rulesOf(annotations: readonly Annotation[]): Rule[] {
  const byForm = new Map<string, Rule>();
  for (const { form, attribute, value } of annotations) {
    const key = matchKey(form);
    if (!byForm.has(key)) byForm.set(key, { attribute, matcher: (name) => matcher(form, name, value) });
  }
  return [...byForm.values()];
}

/** The sequences of rules as text, and the pairs of matcher and action for a `foreach_match` over them. */
export function annotating(rules: readonly Rule[]): { readonly sequences: string; readonly pairs: string } {
  const attributes = [...new Set(rules.map(({ attribute }) => attribute))];
  const actions = attributes.map(
    (
      attribute,
      i,
    ) => `  transform.named_sequence @annotate_${i}(%op: !transform.any_op {transform.readonly}, %value: !transform.any_param {transform.readonly}) {
    transform.annotate %op "${attribute}" = %value : !transform.any_op, !transform.any_param
    transform.yield
  }`,
  );
  const matchers = rules.map((rule, i) => rule.matcher(`match_${i}`));
  const pairs = rules.map(
    ({ attribute }, i) => `      @match_${i} -> @annotate_${attributes.indexOf(attribute)}`,
  );
  return { sequences: [...actions, ...matchers].join('\n'), pairs: pairs.join(',\n') };
}
