// A transform-dialect module that rewrites operations of a program into forms, before any optimisation. It matches each operation
// by name, attributes and types, and replaces it by a function of the module. It runs compiler passes on attentions.
import type { FormChoice } from './choose.ts';
import { cancelling } from './cancel.ts';
import { packingIn } from './packing.ts';
import { isReplaceable, kindOf, rewritableKey, type Replaceable } from './rewritable.ts';
import { tensorText } from '../workload/tensor.ts';
import { FUNCTIONS, matching, passing, replacement } from './sequences.ts';
import { Writer } from './text.ts';

/** Name of the rewriting sequence. */
export const REWRITE = 'iree_tuned_forms';

/** An operation that a function of the module replaces. */
interface Replaced {
  readonly operation: Replaceable;
  readonly form: string;
}

/**
 * Text of the module.
 * @param only an attribute of the functions that passes may change: the compiler crashes in passes over some dynamic operations. By default
 *   they may change all
 * @throws RangeError for an unknown form, or for a form that does not suit its operation
 */
export function formsSpec(choices: readonly FormChoice[], only?: string): string {
  const distinct = new Map<string, Replaced>();
  const before = choices.flatMap(({ operation }) => kindOf(operation).passesBefore?.(operation) ?? []);
  const after = new Set(choices.flatMap(({ operation }) => kindOf(operation).passesAfter?.(operation) ?? []));
  for (const { operation, form } of choices)
    if (isReplaceable(operation) && kindOf(operation).write !== undefined)
      distinct.set(rewritableKey(operation), { operation, form });
  const parts = [...distinct.values()].map((choice, i) => partOf(choice, i));
  const ofTurn = (turn?: number) => parts.filter((one) => one.turn === turn);
  const early = [1, 2].map(ofTurn).filter((some) => some.length > 0);
  const later = ofTurn();
  const cancel = cancelling(
    parts.flatMap(({ moves }) => moves),
    parts.flatMap(({ images }) => images),
  );
  const paddings = new Set(parts.flatMap(({ padding }) => (padding === null ? [] : [tensorText(padding)])));
  const roots = ['%root', ...early.map((_, i) => `%turn_${i}`)];
  const root = roots.at(-1)!;
  const done = later.length === 0 ? root : '%done';
  const unrolling = choices.map(({ operation }) => kindOf(operation).unrolling?.(operation, done) ?? '');
  // Locations end up in the compiled program, which must not depend on the path of this module.
  const places = [...distinct].map(([key, { form }], i) => `#place_${i} = loc("${key} as ${form}":1:1)\n`);
  const text = `${places.join('')}${cancel.places}module @iree_tuned_forms attributes {transform.with_named_sequence} {
${[...parts.map(({ text }) => text), ...cancel.definitions].map((text) => `${text}\n`).join('')}  transform.named_sequence @${REWRITE}(%root: !transform.any_op {transform.${parts.length === 0 ? 'readonly' : 'consumed'}}) {
${passing(before, '%root', 'quantized')}${before.length === 0 ? '' : GENERALIZING}${early.map((some, i) => replacing(roots[i + 1]!, roots[i]!, some)).join('')}${cancel.before(root)}${insertingPads(paddings, root)}${replacing('%done', root, later)}${passing([...after], done)}${unrolling.join('')}${cancel.after(done)}    transform.yield
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

/** The function that computes an operation in its form, and the sequences that replace the operation by its body. */
function partOf({ operation, form }: Replaced, i: number) {
  const kind = kindOf(operation);
  const writer = new Writer();
  const written = kind.writtenOf(operation);
  const {
    value,
    images = [],
    padding = null,
  } = kind.write!(writer, operation, written.operands, packingIn(form));
  const computed = { body: writer.text, result: value.name, type: written.type };
  return {
    ...{ i, images, padding, moves: writer.moves, turn: kind.turn },
    text: replacement(['match', 'rewrite', 'form'], i, written, computed, `#place_${i}`),
  };
}
