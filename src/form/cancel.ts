// Cancels the transposes between convolutions in their forms, by passes of the compiler.
import { tensorText, type Tensor } from '../workload/tensor.ts';
import { matching, passing, replacement } from './sequences.ts';
import { permuted, Writer, type Move } from './text.ts';
import { CHANNELS_FIRST, CHANNELS_LAST } from './parts.ts';

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

/** The transpose from the layout with the channels innermost. */
const returnOf = (image: Tensor): Move[] =>
  image.shape.length === CHANNELS_LAST.length
    ? [{ image: permuted(image, CHANNELS_LAST), permutation: CHANNELS_FIRST }]
    : [];

/** Keeps a transpose out of the producer of its operand. */
function keepingOf({ image, permutation }: Move, i: number): string {
  const from = { ...image, name: '%image' };
  const writer = new Writer();
  const moved = writer.transpose(writer.settle(from), permutation);
  const computed = { body: writer.text, result: moved.name, type: tensorText(moved) };
  return replacement(['returned', 'keep', 'kept'], i, transposeOf({ image, permutation }), computed, PLACE);
}

/** The matched transpose. */
function transposeOf({ image, permutation }: Move) {
  const into = permuted(image, permutation);
  const [a, b] = [tensorText(image), tensorText(into)];
  return {
    list: `%image: ${a}, %into: ${b}`,
    operation: `linalg.transpose ins(%image : ${a}) outs(%into : ${b}) permutation = [${permutation.join(', ')}]`,
  };
}

/** Settles a transpose that no neighbour cancelled. The copy is no `linalg.transpose`, so it does not match again. */
function settlingOf({ image, permutation }: Move, i: number): string {
  const into = { ...permuted(image, permutation), name: '%into' };
  const loops = permutation.map((_, d) => `d${d}`);
  const from = permutation.map((_, d) => loops[permutation.indexOf(d)]!);
  const writer = new Writer();
  const copy = writer.generic({
    ...{ loops: loops.join(', '), maps: [from.join(', '), loops.join(', ')] },
    ...{ inputs: [{ ...image, name: '%image' }], into },
  });
  const settled = writer.settle(copy);
  const computed = { body: writer.text, result: settled.name, type: tensorText(into) };
  return replacement(['moved', 'settle', 'settled'], i, transposeOf({ image, permutation }), computed, PLACE);
}

/** Location of transposes. */
const PLACE = '#place_moved';

/** Text that cancels transposes. All parts are empty for forms without moves. */
export interface Cancelling {
  /** Definitions of locations. */
  readonly places: string;
  /** Functions and sequences of the module. */
  readonly definitions: readonly string[];
  /** Steps before the operations are rewritten. @param root handle of the module */
  before(root: string): string;
  /**
   * Steps after the operations are rewritten. Transposes first sink to the readers of a value: otherwise they are fused into its
   * producer, which then writes the other layout. A transpose that is left keeps a dispatch of its own.
   */
  after(root: string): string;
}

/**
 * @param moves of images into the layouts of forms
 * @param tensors whose transposes may meet these moves: images and results
 */
export function cancelling(moves: readonly Move[], tensors: readonly Tensor[]): Cancelling {
  const settled = distinct(moves);
  if (settled.length === 0) return { places: '', definitions: [], before: () => '', after: () => '' };
  const kept = distinct(tensors.flatMap(returnOf));
  return {
    places: `${PLACE} = loc("a transpose of an image":1:1)\n`,
    definitions: [...settled.map(settlingOf), ...kept.map(keepingOf)],
    before: (root) => passing(FUSING, root, 'fused'),
    after: (root) => {
      const other = kept.length === 0 ? root : '%kept';
      return [
        passing(propagating(', "test-sinking-only" = true'), root, 'sunk'),
        kept.length === 0 ? '' : matching(other, root, ['returned', 'keep'], [...kept.keys()]),
        passing(propagating(''), other, 'moved'),
        matching('%settled', other, ['moved', 'settle'], [...settled.keys()]),
      ].join('');
    },
  };
}

const distinct = (moves: readonly Move[]): readonly Move[] => [
  ...new Map(moves.map((move) => [JSON.stringify(move), move])).values(),
];
