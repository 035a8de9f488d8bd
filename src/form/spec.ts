// A transform-dialect module that rewrites operations of a program into forms, before any optimisation. It matches each operation
// by name, attributes and types, and replaces it by a function of the module. It runs compiler passes on attentions.
import type { FormChoice } from './choose.ts';
import { isAttention, type Attention } from './attention.ts';
import { dropUnits, isBroadcast } from './broadcast.ts';
import { cancelling } from './cancel.ts';
import { isConcat, joinChannelsLast } from './concat.ts';
import { convolutionKey } from './convolution.ts';
import { channelsFirst, fromChannelsFirst, toChannelsFirst } from './channels-first.ts';
import { passesFormNamed, writtenFormNamed } from './forms.ts';
import { rewritableKey, writtenOf, type Rewritable } from './rewritable.ts';
import { isSpread, padOf, withoutZeros } from './spread-convolution.ts';
import { inEightBits, isIntegerProduct } from './integer-product.ts';
import { tensorText } from '../workload/tensor.ts';
import { integerPasses, isQuantized, type Quantized } from './quantized.ts';
import { inTiles, isPackedProduct } from './packed-product.ts';
import { packingIn } from './packing.ts';
import { inProductForm, isProduct, passesAfter } from './product.ts';
import { byAdditions, isRounding } from './rounding.ts';
import { FUNCTIONS, matching, passing, replacement } from './sequences.ts';
import { Writer, type Value } from './text.ts';

/** Name of the rewriting sequence. */
export const REWRITE = 'iree_tuned_forms';

interface InForm {
  readonly operation: Exclude<Rewritable, Attention | Quantized>;
  readonly form: string;
}

/**
 * Text of the module.
 * @param only an attribute of the functions that passes may change: the compiler crashes in passes over some dynamic operations. By default
 *   they may change all
 * @throws RangeError for an unknown form, or for a form that does not suit its operation
 */
export function formsSpec(choices: readonly FormChoice[], only?: string): string {
  const distinct = new Map<string, InForm>();
  const passes = new Set<string>();
  let before: readonly string[] = [];
  for (const { operation, form } of choices)
    if (isQuantized(operation)) before = integerPasses(operation);
    else if (isAttention(operation)) for (const pass of passesOf({ operation, form })) passes.add(pass);
    else {
      distinct.set(rewritableKey(operation), { operation, form });
      if (isProduct(operation)) for (const pass of passesAfter(operation)) passes.add(quoted(pass));
    }
  const parts = [...distinct.values()].map((choice, i) => partOf(choice, i));
  const first = parts.filter(({ isFirst }) => isFirst);
  const later = parts.filter(({ isFirst }) => !isFirst);
  const cancel = cancelling(
    parts.flatMap(({ moves }) => moves),
    parts.flatMap(({ tensors }) => tensors),
  );
  const padTypes = new Set([...distinct.values()].flatMap(({ operation }) => padTypeOf(operation)));
  const root = first.length === 0 ? '%root' : '%first';
  const done = later.length === 0 ? root : '%done';
  // Locations end up in the compiled program, which must not depend on the path of this module.
  const places = [...distinct].map(([key, { form }], i) => `#place_${i} = loc("${key} as ${form}":1:1)\n`);
  const text = `${places.join('')}${cancel.places}module @iree_tuned_forms attributes {transform.with_named_sequence} {
${[...parts.map(({ text }) => text), ...cancel.definitions].map((text) => `${text}\n`).join('')}  transform.named_sequence @${REWRITE}(%root: !transform.any_op {transform.${parts.length === 0 ? 'readonly' : 'consumed'}}) {
${passing(before, '%root', 'quantized')}${before.length === 0 ? '' : GENERALIZING}${replacing('%first', '%root', first)}${cancel.before(root)}${insertingPads(padTypes, root)}${replacing('%done', root, later)}${passing([...passes], done)}${cancel.after(done)}    transform.yield
  }
}
`;
  return only === undefined ? text : text.replaceAll(FUNCTIONS, `${FUNCTIONS} attributes {${only}}`);
}

/** A bias that is broadcast by an operation of its own would stop transposes. As a generic operation, it is fused into the addition. */
const GENERALIZING = `    %broadcasts = transform.structured.match ops{["linalg.broadcast"]} in %root : (!transform.any_op) -> !transform.any_op
    %generic = transform.structured.generalize %broadcasts : (!transform.any_op) -> !transform.any_op
`;

const replacing = (result: string, root: string, parts: readonly { readonly i: number }[]): string =>
  parts.length === 0
    ? ''
    : `${matching(
        result,
        root,
        ['match', 'rewrite'],
        parts.map(({ i }) => i),
      )}    transform.apply_dce to ${result} : !transform.any_op
`;

/** The type of the padding that a matched operation reads. */
function padTypeOf(operation: InForm['operation']): string[] {
  const pad = isSpread(operation) ? padOf(operation) : null;
  return pad === null ? [] : [tensorText(pad)];
}

/** Makes padding of these types insertions into zeros. The matcher does not look into the body of a `tensor.pad`. */
const insertingPads = (types: ReadonlySet<string>, root: string): string =>
  [...types]
    .map(
      (
        type,
        i,
      ) => `    %pads_${i} = transform.structured.match ops{["tensor.pad"]} filter_result_type = ${type} in ${root} : (!transform.any_op) -> !transform.any_op
    %inserted_${i} = transform.structured.rewrite_in_destination_passing_style %pads_${i} : (!transform.any_op) -> !transform.any_op
`,
    )
    .join('');

function passesOf({ operation, form: name }: FormChoice): readonly string[] {
  const form = passesFormNamed(name);
  if (form === null || !isAttention(operation) || !form.isFor(operation))
    throw new RangeError(`${rewritableKey(operation)} has no form ${name}`);
  return form.passes.map(quoted);
}

const quoted = (pass: string) => `"${pass}"`;

/** The function that computes an operation in its form, and the sequences that replace the operation by its body. */
function partOf({ operation, form }: InForm, i: number) {
  const writer = new Writer();
  const written = writtenOf(operation);
  const { value, tensors } = inForm(writer, { operation, form }, written.operands);
  const computed = { body: writer.text, result: value.name, type: written.type };
  return {
    i,
    // Element-wise operations are fused before the others are rewritten.
    isFirst: isBroadcast(operation),
    moves: writer.moves,
    tensors,
    text: replacement(['match', 'rewrite', 'form'], i, written, computed, `#place_${i}`),
  };
}

/** Writes an operation in its form. Returns its result, and the tensors between which element-wise operations may be. */
function inForm(writer: Writer, { operation, form }: InForm, operands: readonly Value[]) {
  const { name, packing } = packingIn(form);
  if (isConcat(operation)) {
    const { result } = operation;
    return { value: joinChannelsLast(writer, operands, result), tensors: [result] };
  }
  if (isBroadcast(operation))
    return { value: dropUnits(writer, operation, operands as [Value, Value, Value]), tensors: [] };
  if (isProduct(operation))
    return { value: inProductForm(writer, operation, operands, packing), tensors: [] };
  if (isIntegerProduct(operation))
    return { value: inEightBits(writer, operation, operands, packing), tensors: [] };
  if (isPackedProduct(operation)) {
    if (packing === null) throw new RangeError(`${rewritableKey(operation)} has no form ${form}`);
    return { value: inTiles(writer, operation, operands, packing), tensors: [] };
  }
  if (isRounding(operation)) return { value: byAdditions(writer, operands), tensors: [] };
  if (isSpread(operation)) {
    const { image, convolution } = operation;
    const value = withoutZeros(writer, operation, operands as [Value, Value, Value]);
    return { value, tensors: [image, convolution.result] };
  }
  const written = writtenFormNamed(name);
  const own = channelsFirst(operation);
  if (written?.isFor(own) !== true) throw new RangeError(`${convolutionKey(operation)} has no form ${form}`);
  const [image, filter, accumulator] = (['image', 'filter', 'result'] as const).map((part, i) =>
    toChannelsFirst(writer, operation, operands[i]!, part),
  ) as [Value, Value, Value];
  const result = written.write(writer, own, [image, filter, accumulator], packing);
  const value = fromChannelsFirst(writer, operation, result);
  return { value, tensors: [own.image, own.result] };
}
