// Parts of a transform-dialect module: a replacement of operations by functions of the module, and passes over all functions.
import { listOf, type Written } from './text.ts';

/** The operation of a matching sequence. */
type Matched = Pick<Written, 'list' | 'before' | 'operation' | 'inBody'> & Partial<Pick<Written, 'operands'>>;

/** The operand of a matched element, and the operation in whose body it is computed. */
const wholeOf = (path: readonly number[]): string => `${path
  .map(
    (
      operand,
      i,
    ) => `    %element_${i + 1} = transform.get_producer_of_operand %element_${i}[${operand}] : (!transform.any_op) -> !transform.any_op
`,
  )
  .join(
    '',
  )}    %image = transform.get_operand %element_${path.length}[0] : (!transform.any_op) -> !transform.any_value
    %op = transform.get_parent_op %element_0 : (!transform.any_op) -> !transform.any_op
    %whole = transform.get_result %op[0] : (!transform.any_op) -> !transform.any_value
`;

/**
 * A function, and sequences that replace an operation by its body.
 * @param names of the matching sequence, the rewriting sequence and the function
 * @param place location of the body. Without one, the compiled program would have the path of the module
 */
export function replacement(
  [match, rewrite, form]: readonly [match: string, rewrite: string, form: string],
  i: number,
  { operands, list, before = '', operation, inBody }: Matched,
  { body, result, type }: { readonly body: string; readonly result: string; readonly type: string },
  place: string,
): string {
  const [own, given, to] = inBody ? ['%element_0', '%image', '%whole'] : ['%op', '%ins', '%outs'];
  return `  util.func private @iree_tuned_${form}_${i}(${inBody ? listOf(operands!) : list}) -> ${type} {
${body.replaceAll(/[^{:]$/gm, `$& loc(${place})`)}
    util.return ${result} : ${type}
  }
  transform.named_sequence @${match}_${i}(%op: !transform.any_op {transform.readonly}) -> (!transform.any_value, !transform.any_value) {
    %ins, %outs = transform.iree.match.cast_compatible_dag_from_root %op {
    ^bb0(${list}):
      ${before}
      %0 = ${operation}
    } : (!transform.any_op) -> (!transform.any_value, !transform.any_value)
    transform.yield %ins, %outs : !transform.any_value, !transform.any_value
  }
  transform.named_sequence @${rewrite}_${i}(%ins: !transform.any_value {transform.readonly}, %outs: !transform.any_value {transform.readonly}) {
    ${own} = transform.get_defining_op %outs : (!transform.any_value) -> !transform.any_op
${inBody ? wholeOf(inBody) : ''}    %module = transform.util.get_nearest_symbol_table %op : (!transform.any_op) -> !transform.any_op
    %form = transform.util.import_symbol @iree_tuned_${form}_${i} into %module if undefined : (!transform.any_op) -> !transform.any_op
    transform.util.cast_and_call inline_call %form(${given}) -> ${to} after %op {} : (!transform.any_op, !transform.any_value, !transform.any_value, !transform.any_op) -> ()
    transform.yield
  }`;
}

/**
 * Replaces operations: the first matching sequence that fits has its rewriting sequence applied.
 * @param result handle of the rewritten module
 * @param root handle of the module
 * @param names of both sequences, without their numbers
 * @param numbers of the sequences
 */
export const matching = (
  result: string,
  root: string,
  [match, rewrite]: readonly [match: string, rewrite: string],
  numbers: readonly number[],
) =>
  `    ${result} = transform.foreach_match in ${root}
${numbers.map((i) => `      @${match}_${i} -> @${rewrite}_${i}`).join(',\n')}
      : (!transform.any_op) -> !transform.any_op
`;

/** Matches all functions. */
export const FUNCTIONS = 'ops{["util.func"]}';

/**
 * Runs passes over all functions.
 * @param passes with their options, as the dialect writes them
 * @param root handle of the module
 * @param name of the handles of the functions
 */
export const passing = (passes: readonly string[], root: string, name = 'functions'): string =>
  passes.length === 0
    ? ''
    : [
        `    %${name}_0 = transform.structured.match ${FUNCTIONS} in ${root} : (!transform.any_op) -> !transform.any_op\n`,
        ...passes.map(
          (pass, i) =>
            `    %${name}_${i + 1} = transform.apply_registered_pass ${pass} to %${name}_${i} : (!transform.any_op) -> !transform.any_op\n`,
        ),
      ].join('');
