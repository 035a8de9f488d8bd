// A transform-dialect module that rewrites convolutions of a program into forms. The compiler applies it before it optimises
// anything: it finds each operation by its name, attributes and types, and puts a function of this module in its place.
import type { FormChoice } from './choose.ts';
import { convolutionKey } from './convolution.ts';
import { formNamed } from './forms.ts';
import { tensorText } from '../workload/tensor.ts';
import { movesText, Writer, type Value } from './text.ts';

/** The sequence that rewrites. */
export const REWRITE = 'iree_tuned_forms';

/**
 * Text of the module.
 * @throws RangeError for a form that does not exist or is not for its convolution
 */
export function formsSpec(choices: readonly FormChoice[]): string {
  const distinct = new Map(choices.map((choice) => [convolutionKey(choice.convolution), choice]));
  const parts = [...distinct.values()].map((choice, i) => partOf(choice, i));
  const pairs = parts.map((_, i) => `      @match_${i} -> @rewrite_${i}`).join(',\n');
  // Places end up in the compiled program, which is to be the same wherever this module lies.
  const places = [...distinct].map(([key, { form }], i) => `#place_${i} = loc("${key} as ${form}":1:1)\n`);
  return `${places.join('')}module @iree_tuned_forms attributes {transform.with_named_sequence} {
${parts.join('\n')}
  transform.named_sequence @${REWRITE}(%root: !transform.any_op {transform.consumed}) {
    %done = transform.foreach_match in %root
${pairs}
      : (!transform.any_op) -> !transform.any_op
    transform.apply_dce to %done : !transform.any_op
    transform.yield
  }
}
`;
}

function partOf({ convolution, form: name }: FormChoice, i: number): string {
  const form = formNamed(name);
  if (form?.isFor(convolution) !== true)
    throw new RangeError(`${convolutionKey(convolution)} has no form ${name}`);
  const { image, filter, result, strides, dilations } = convolution;
  const operands: readonly [Value, Value, Value] = [
    { ...image, name: '%image' },
    { ...filter, name: '%filter' },
    { ...result, name: '%accumulator' },
  ];
  const list = operands.map((one) => `${one.name}: ${tensorText(one)}`).join(', ');
  const type = tensorText(result);
  const writer = new Writer();
  const value = form.write(writer, convolution, operands);
  const body = writer.text.replaceAll(/[^{:]$/gm, `$& loc(#place_${i})`);
  return `  util.func private @iree_tuned_form_${i}(${list}) -> ${type} {
${body}
    util.return ${value.name} : ${type}
  }
  transform.named_sequence @match_${i}(%op: !transform.any_op {transform.readonly}) -> (!transform.any_value, !transform.any_value) {
    %ins, %outs = transform.iree.match.cast_compatible_dag_from_root %op {
    ^bb0(${list}):
      %0 = ${convolution.name} ${movesText(strides, dilations)} ins(%image, %filter : ${tensorText(image)}, ${tensorText(filter)}) outs(%accumulator : ${type}) -> ${type}
    } : (!transform.any_op) -> (!transform.any_value, !transform.any_value)
    transform.yield %ins, %outs : !transform.any_value, !transform.any_value
  }
  transform.named_sequence @rewrite_${i}(%ins: !transform.any_value {transform.readonly}, %outs: !transform.any_value {transform.readonly}) {
    %op = transform.get_defining_op %outs : (!transform.any_value) -> !transform.any_op
    %module = transform.util.get_nearest_symbol_table %op : (!transform.any_op) -> !transform.any_op
    %form = transform.util.import_symbol @iree_tuned_form_${i} into %module if undefined : (!transform.any_op) -> !transform.any_op
    transform.util.cast_and_call inline_call %form(%ins) -> %outs after %op {} : (!transform.any_op, !transform.any_value, !transform.any_value, !transform.any_op) -> ()
    transform.yield
  }`;
}
