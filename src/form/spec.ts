// A transform-dialect module that rewrites operations of a program into forms, before any optimisation. It matches each convolution
// by name, attributes and types, and replaces it by a function of the module. It runs compiler passes on attentions.
import type { FormChoice } from './choose.ts';
import { isAttention } from './attention.ts';
import { isConcat, joinChannelsLast, writtenConcat, type Concat } from './concat.ts';
import { convolutionKey, type Convolution } from './convolution.ts';
import type { Operands } from './form.ts';
import { inTwoDimensions, narrow, widen } from './in-two-dimensions.ts';
import { passesFormNamed, writtenFormNamed } from './forms.ts';
import { rewritableKey } from './rewritable.ts';
import { tensorText, type Tensor } from '../workload/tensor.ts';
import { movesText, Writer, type Move, type Value } from './text.ts';

/** Name of the rewriting sequence. */
export const REWRITE = 'iree_tuned_forms';

interface InForm {
  readonly operation: Convolution | Concat;
  readonly form: string;
}

/**
 * Text of the module.
 * @throws RangeError for an unknown form, or for a form that does not suit its operation
 */
export function formsSpec(choices: readonly FormChoice[]): string {
  const distinct = new Map<string, InForm>();
  const passes = new Set<string>();
  for (const { operation, form } of choices)
    if (isAttention(operation)) for (const pass of passesOf({ operation, form })) passes.add(pass);
    else distinct.set(rewritableKey(operation), { operation, form });
  const parts = [...distinct.values()].map((choice, i) => partOf(choice, i));
  const distinctMoves = (all: readonly Move[]) => [
    ...new Map(all.map((move) => [JSON.stringify(move), move])).values(),
  ];
  const moves = distinctMoves(parts.flatMap((part) => part.moves));
  const returns = distinctMoves(parts.flatMap((part) => part.returns));
  const settling = [...moves.map(settlingOf), ...returns.map(keepingOf)];
  // Locations end up in the compiled program, which must not depend on the path of this module.
  const places = [...distinct].map(([key, { form }], i) => `#place_${i} = loc("${key} as ${form}":1:1)\n`);
  return `${places.join('')}module @iree_tuned_forms attributes {transform.with_named_sequence} {
${[...parts.map(({ text }) => text), ...settling].map((text) => `${text}\n`).join('')}  transform.named_sequence @${REWRITE}(%root: !transform.any_op {transform.${parts.length === 0 ? 'readonly' : 'consumed'}}) {
${settling.length === 0 ? '' : passing(FUSING, '%root', 'fused')}${parts.length === 0 ? '' : replacing(parts.length)}${passing([...passes], parts.length === 0 ? '%root' : '%done')}${settling.length === 0 ? '' : cancelling(moves.length, returns.length)}    transform.yield
  }
}
`;
}

/** Applies the first rewritings whose matcher fits. @param name of the sequences */
const matching = (result: string, root: string, [match, rewrite]: readonly [string, string], count: number) =>
  `    ${result} = transform.foreach_match in ${root}
${Array.from({ length: count }, (_, i) => `      @${match}_${i} -> @${rewrite}_${i}`).join(',\n')}
      : (!transform.any_op) -> !transform.any_op
`;

const replacing = (count: number): string =>
  `${matching('%done', '%root', ['match', 'rewrite'], count)}    transform.apply_dce to %done : !transform.any_op
`;

/** Runs passes over all functions. @param name of the handles */
const passing = (passes: readonly string[], root: string, name = 'functions'): string =>
  passes.length === 0
    ? ''
    : [
        `    %${name}_0 = transform.structured.match ops{["util.func"]} in ${root} : (!transform.any_op) -> !transform.any_op\n`,
        ...passes.map(
          (pass, i) =>
            `    %${name}_${i + 1} = transform.apply_registered_pass ${pass} to %${name}_${i} : (!transform.any_op) -> !transform.any_op\n`,
        ),
      ].join('');

/** Transposes pass through `linalg` operations only, and a value with several readers among them stops transposes. */
const FUSING = [
  '"convert-elementwise-to-linalg"',
  '"iree-dispatch-creation-elementwise-op-fusion"',
  '"canonicalize"',
  '"cse"',
];

const propagating = (only: string): readonly string[] => [
  '"convert-elementwise-to-linalg"',
  '"canonicalize"',
  '"cse"',
  `"iree-global-opt-propagate-linalg-transpose" with options = { "enable-sink-transpose-through-pad" = true${only} }`,
  '"canonicalize"',
  '"cse"',
];

/**
 * Cancels transposes of neighbours, also through element-wise operations and pads between them. Transposes first sink to the readers
 * of a value. Otherwise they are fused into its producer, which then writes the other layout.
 */
const cancelling = (moves: number, returns: number): string =>
  [
    passing(propagating(', "test-sinking-only" = true'), '%done', 'sunk'),
    matching('%kept', '%done', ['returned', 'keep'], returns),
    passing(propagating(''), '%kept', 'moved'),
    matching('%settled', '%kept', ['moved', 'settle'], moves),
  ].join('');

function passesOf({ operation, form: name }: FormChoice): readonly string[] {
  const form = passesFormNamed(name);
  if (form === null || !isAttention(operation) || !form.isFor(operation))
    throw new RangeError(`${rewritableKey(operation)} has no form ${name}`);
  return form.passes.map((pass) => `"${pass}"`);
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

/** The function that computes an operation in its form, and the sequences that replace the operation by its body. */
function partOf({ operation, form }: InForm, i: number) {
  const writer = new Writer();
  const written = isConcat(operation) ? writtenConcat(operation) : writtenText(operation);
  const value = isConcat(operation)
    ? joinChannelsLast(writer, written.operands, operation.result)
    : convolved(writer, operation, form, written.operands as Operands);
  const body = writer.text.replaceAll(/[^{:]$/gm, `$& loc(#place_${i})`);
  const computed = { body, result: value.name, type: tensorText(value) };
  const { result, ...own } = isConcat(operation) ? operation : inTwoDimensions(operation);
  const image = 'image' in own ? [own.image] : [];
  return {
    moves: writer.moves,
    // Element-wise operations between convolutions have the shapes of both.
    returns: writer.moves.length === 0 ? [] : [...image, result].flatMap(returnOf),
    text: replacement(['match', 'rewrite', 'form'], i, written, computed),
  };
}

function convolved(writer: Writer, convolution: Convolution, name: string, operands: Operands): Value {
  const form = writtenFormNamed(name);
  const own = inTwoDimensions(convolution);
  if (form?.isFor(own) !== true) throw new RangeError(`${convolutionKey(convolution)} has no form ${name}`);
  const [a, b, c] = operands.map((one) => widen(writer, convolution, one)) as [Value, Value, Value];
  return narrow(writer, convolution, form.write(writer, own, [a, b, c]));
}

/** The transpose from the layout with the channels innermost. */
const returnOf = ({ shape: [n, ...rest], elementType }: Tensor): Move[] =>
  rest.length !== 3
    ? []
    : [{ image: { shape: [n!, rest[1]!, rest[2]!, rest[0]!], elementType }, permutation: [0, 3, 1, 2] }];

/** Keeps a transpose out of the producer of its operand. */
function keepingOf({ image, permutation }: Move, i: number): string {
  const from = { ...image, name: '%image' };
  const writer = new Writer();
  const moved = writer.transpose(writer.settle(from), permutation);
  return replacement(['returned', 'keep', 'kept'], i, transposeOf({ image, permutation }), {
    ...{ body: writer.text, result: moved.name, type: tensorText(moved) },
  });
}

/** The matched transpose. */
function transposeOf({ image, permutation }: Move) {
  const into = { ...image, shape: permutation.map((d) => image.shape[d]!) };
  const [a, b] = [tensorText(image), tensorText(into)];
  return {
    list: `%image: ${a}, %into: ${b}`,
    operation: `linalg.transpose ins(%image : ${a}) outs(%into : ${b}) permutation = [${permutation.join(', ')}]`,
  };
}

/** Settles a transpose that no neighbour cancelled. The copy is no `linalg.transpose`, so it does not match again. */
function settlingOf({ image, permutation }: Move, i: number): string {
  const from = { ...image, name: '%image' };
  const into = { ...image, shape: permutation.map((d) => image.shape[d]!), name: '%into' };
  const [a, b] = [tensorText(from), tensorText(into)];
  const loops = permutation.map((_, d) => `d${d}`);
  const maps = [permutation.map((_, d) => loops[permutation.indexOf(d)]!), loops].map(
    (results) => `affine_map<(${loops.join(', ')}) -> (${results.join(', ')})>`,
  );
  const type = from.elementType;
  const writer = new Writer();
  const copy = writer.define(
    into,
    `linalg.generic {indexing_maps = [${maps.join(', ')}], iterator_types = [${loops.map(() => '"parallel"').join(', ')}]} ins(%image : ${a}) outs(%into : ${b}) {
    ^bb0(%in: ${type}, %out: ${type}):
      linalg.yield %in : ${type}
    } -> ${b}`,
  );
  const settled = writer.settle(copy);
  return replacement(['moved', 'settle', 'settled'], i, transposeOf({ image, permutation }), {
    body: writer.text,
    result: settled.name,
    type: b,
  });
}

/**
 * A function, and sequences that replace an operation by its body.
 * @param names of the matching sequence, the rewriting sequence and the function
 */
function replacement(
  [match, rewrite, form]: readonly [match: string, rewrite: string, form: string],
  i: number,
  { list, operation }: { readonly list: string; readonly operation: string },
  { body, result, type }: { readonly body: string; readonly result: string; readonly type: string },
): string {
  return `  util.func private @iree_tuned_${form}_${i}(${list}) -> ${type} {
${body}
    util.return ${result} : ${type}
  }
  transform.named_sequence @${match}_${i}(%op: !transform.any_op {transform.readonly}) -> (!transform.any_value, !transform.any_value) {
    %ins, %outs = transform.iree.match.cast_compatible_dag_from_root %op {
    ^bb0(${list}):
      %0 = ${operation}
    } : (!transform.any_op) -> (!transform.any_value, !transform.any_value)
    transform.yield %ins, %outs : !transform.any_value, !transform.any_value
  }
  transform.named_sequence @${rewrite}_${i}(%ins: !transform.any_value {transform.readonly}, %outs: !transform.any_value {transform.readonly}) {
    %op = transform.get_defining_op %outs : (!transform.any_value) -> !transform.any_op
    %module = transform.util.get_nearest_symbol_table %op : (!transform.any_op) -> !transform.any_op
    %form = transform.util.import_symbol @iree_tuned_${form}_${i} into %module if undefined : (!transform.any_op) -> !transform.any_op
    transform.util.cast_and_call inline_call %form(%ins) -> %outs after %op {} : (!transform.any_op, !transform.any_value, !transform.any_value, !transform.any_op) -> ()
    transform.yield
  }`;
}
