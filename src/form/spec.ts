// A transform-dialect module that rewrites operations of a program into forms, before any optimisation. It matches each convolution
// by name, attributes and types, and replaces it by a function of the module. It runs compiler passes on attentions.
import type { FormChoice } from './choose.ts';
import { isAttention } from './attention.ts';
import { convolutionKey, type Convolution } from './convolution.ts';
import { inTwoDimensions, narrow, widen } from './in-two-dimensions.ts';
import { passesFormNamed, writtenFormNamed } from './forms.ts';
import { rewritableKey } from './rewritable.ts';
import { tensorText } from '../workload/tensor.ts';
import { movesText, Writer, type Value } from './text.ts';

/** Name of the rewriting sequence. */
export const REWRITE = 'iree_tuned_forms';

interface ConvolutionInForm {
  readonly convolution: Convolution;
  readonly form: string;
}

/**
 * Text of the module.
 * @throws RangeError for an unknown form, or for a form that does not suit its operation
 */
export function formsSpec(choices: readonly FormChoice[]): string {
  const distinct = new Map<string, ConvolutionInForm>();
  const passes = new Set<string>();
  for (const { operation, form } of choices)
    if (isAttention(operation)) for (const pass of passesOf({ operation, form })) passes.add(pass);
    else distinct.set(convolutionKey(operation), { convolution: operation, form });
  const parts = [...distinct.values()].map((choice, i) => partOf(choice, i));
  const pairs = parts.map((_, i) => `      @match_${i} -> @rewrite_${i}`).join(',\n');
  // Locations end up in the compiled program, which must not depend on the path of this module.
  const places = [...distinct].map(([key, { form }], i) => `#place_${i} = loc("${key} as ${form}":1:1)\n`);
  return `${places.join('')}module @iree_tuned_forms attributes {transform.with_named_sequence} {
${parts.map((part) => `${part}\n`).join('')}  transform.named_sequence @${REWRITE}(%root: !transform.any_op {transform.${parts.length === 0 ? 'readonly' : 'consumed'}}) {
${parts.length === 0 ? '' : replacing(pairs)}${passing([...passes], parts.length === 0 ? '%root' : '%done')}    transform.yield
  }
}
`;
}

const replacing = (pairs: string): string => `    %done = transform.foreach_match in %root
${pairs}
      : (!transform.any_op) -> !transform.any_op
    transform.apply_dce to %done : !transform.any_op
`;

/** Runs passes over all functions. */
const passing = (passes: readonly string[], root: string): string =>
  passes.length === 0
    ? ''
    : [
        `    %functions_0 = transform.structured.match ops{["util.func"]} in ${root} : (!transform.any_op) -> !transform.any_op\n`,
        ...passes.map(
          (pass, i) =>
            `    %functions_${i + 1} = transform.apply_registered_pass "${pass}" to %functions_${i} : (!transform.any_op) -> !transform.any_op\n`,
        ),
      ].join('');

function passesOf({ operation, form: name }: FormChoice): readonly string[] {
  const form = passesFormNamed(name);
  if (form === null || !isAttention(operation) || !form.isFor(operation))
    throw new RangeError(`${rewritableKey(operation)} has no form ${name}`);
  return form.passes;
}

/** A convolution as the program has it: its operands, their list with types, the operation, and the type of the result. */
export function writtenText(convolution: Convolution) {
  const { image, filter, result, strides, dilations, steps } = convolution;
  const operands: readonly [Value, Value, Value] = [
    { ...image, name: '%image' },
    { ...filter, name: '%filter' },
    { ...result, name: '%accumulator' },
  ];
  const [a, b, c] = operands.map(({ name }) => name);
  const type = tensorText(result);
  return {
    operands,
    list: operands.map((one) => `${one.name}: ${tensorText(one)}`).join(', '),
    operation: `${convolution.name} ${movesText(strides, dilations, steps)} ins(${a}, ${b} : ${tensorText(image)}, ${tensorText(filter)}) outs(${c} : ${type}) -> ${type}`,
    type,
  };
}

function partOf({ convolution, form: name }: ConvolutionInForm, i: number): string {
  const form = writtenFormNamed(name);
  const own = inTwoDimensions(convolution);
  if (form?.isFor(own) !== true) throw new RangeError(`${convolutionKey(convolution)} has no form ${name}`);
  const { operands, list, operation, type } = writtenText(convolution);
  const writer = new Writer();
  const [a, b, c] = operands.map((one) => widen(writer, convolution, one)) as [Value, Value, Value];
  const value = narrow(writer, convolution, form.write(writer, own, [a, b, c]));
  const body = writer.text.replaceAll(/[^{:]$/gm, `$& loc(#place_${i})`);
  return `  util.func private @iree_tuned_form_${i}(${list}) -> ${type} {
${body}
    util.return ${value.name} : ${type}
  }
  transform.named_sequence @match_${i}(%op: !transform.any_op {transform.readonly}) -> (!transform.any_value, !transform.any_value) {
    %ins, %outs = transform.iree.match.cast_compatible_dag_from_root %op {
    ^bb0(${list}):
      %0 = ${operation}
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
