// Attention as one operation of a program: `iree_linalg_ext.attention`.
import { bufferOf } from '../system/bytes.ts';
import { isIntegerWithin } from '../system/data.ts';
import { elementBits } from '../workload/element-type.ts';
import {
  elementsOf,
  isTensor,
  tensorFromText,
  tensorText,
  typeName,
  type Tensor,
} from '../workload/tensor.ts';
import type { ReplaceableKind } from './form.ts';
import { listOf, type Written } from './text.ts';

export interface Attention {
  readonly name: 'iree_linalg_ext.attention';
  /** Queries, keys, values, the scale (a tensor without dimensions) and an optional mask. */
  readonly operands: readonly Tensor[];
  readonly result: Tensor;
  /** The loop over each dimension, for each operand and then for the result. */
  readonly loops: readonly (readonly number[])[];
}

const NAME = 'iree_linalg_ext.attention';

/** Such as `iree_linalg_ext.attention abd 12x128x64xf32, ... -> abe 12x128x64xf32`: the loops of each tensor, and its type. */
function attentionKey({ name, operands, result, loops }: Attention): string {
  const all = [...operands, result].map((one, i) => `${letters(loops[i]!)} ${typeName(one)}`.trim());
  return `${name} ${all.slice(0, -1).join(', ')} -> ${all.at(-1)!}`;
}

/** Most loops of an attention. */
const MOST_LOOPS = 26;

const letters = (loops: readonly number[]): string => String.fromCharCode(...loops.map((loop) => 97 + loop));

/** Size of each loop. An operation in which two tensors disagree about one has none. */
function sizesOf({ operands, result, loops }: Omit<Attention, 'name'>): ReadonlyMap<number, number> | null {
  const sizes = new Map<number, number>();
  for (const [i, { shape }] of [...operands, result].entries()) {
    if (loops[i]!.length !== shape.length) return null;
    for (const [at, loop] of loops[i]!.entries()) {
      if ((sizes.get(loop) ?? shape[at]) !== shape[at]) return null;
      sizes.set(loop, shape[at]!);
    }
  }
  return sizes;
}

/** Number of scores: one for each query and key. They lack the dimension that queries and keys share, and the result lacks. */
export function scoresOf(attention: Attention): number {
  const [queries, keys] = attention.loops as readonly [readonly number[], readonly number[]];
  const own = attention.loops.at(-1)!;
  const scored = [...new Set([...queries, ...keys])].filter(
    (loop) => own.includes(loop) || !queries.includes(loop),
  );
  const sizes = sizesOf(attention)!;
  return elementsOf(scored.map((loop) => sizes.get(loop)!));
}

/** Bytes of the scores. A decomposed attention keeps all of them in memory. */
export const scoreBytes = (attention: Attention): number =>
  (scoresOf(attention) * elementBits(attention.result.elementType)) / 8;

/**
 * The attentions in a text of the compiler, each once.
 * @param isOfCopies whether those of dynamic sizes stand in other functions than those that are rewritten
 * @returns none if any of them is not understood, for example because of a dynamic size
 */
export function readAttentions(text: Uint8Array, isOfCopies = false): Attention[] {
  const bytes = bufferOf(text);
  if (!bytes.includes(NAME)) return [];
  const source = bytes.toString('latin1');
  const count = source.match(/= "?iree_linalg_ext\.attention\b/g)?.length ?? 0;
  const statements = [...source.matchAll(STATEMENT)];
  const elsewhere = isOfCopies ? statements.filter(([statement]) => statement.includes('?')).length : 0;
  const found = statements.flatMap(([, maps, types, result]) => {
    const one = attentionOf(maps!, types!.split(/,\s*/), result!);
    return isAttention(one) ? [one] : [];
  });
  return found.length + elsewhere < count
    ? []
    : [...new Map(found.map((one) => [attentionKey(one), one])).values()];
}

const STATEMENT =
  /= iree_linalg_ext\.attention\s*<?\{?\s*indexing_maps = \[(.*?)\]\s*\}?>?\s*(?:\{[^\n{}]*\}\s*)?ins\([^:()]*:\s*([^()]*)\)\s*outs\([^:()]*:\s*([^()]*)\)/g;

const attentionOf = (maps: string, types: readonly string[], result: string) => ({
  name: NAME,
  operands: types.map((type) => tensorFromText(type) ?? { shape: [], elementType: type.trim() }),
  result: tensorFromText(result),
  loops: [...maps.matchAll(/affine_map<\(([^)]*)\) -> \(([^)]*)\)>/g)].map(([, loops, own]) =>
    (own === '' ? [] : own!.split(', ')).map((loop) => loops!.split(', ').indexOf(loop)),
  ),
});

/** Whether a value, for example from a file, is an attention. Checks every field, because all are written into MLIR. */
export function isAttention(value: unknown): value is Attention {
  const { name, operands, result, loops } = (value ?? {}) as Partial<Record<keyof Attention, unknown>>;
  return (
    name === NAME &&
    Array.isArray(operands) &&
    (operands.length === 4 || operands.length === 5) &&
    [...(operands as unknown[]), result].every(isTensor) &&
    (operands as readonly Tensor[]).every(({ shape }, i) => (shape.length === 0) === (i === SCALE)) &&
    Array.isArray(loops) &&
    loops.length === operands.length + 1 &&
    loops.every(
      (one) => Array.isArray(one) && one.every((loop) => isIntegerWithin(loop, 0, MOST_LOOPS - 1)),
    ) &&
    sizesOf(value as Attention) !== null
  );
}

/** Position of the scale among the operands. */
const SCALE = 3;

/** An attention as the program has it, with unchanged scores, and the usual scale. */
function writtenAttention(attention: Attention): Written {
  const { name, operands, result, loops } = attention;
  const operandNames = operands.map((_, i) => (i === SCALE ? '%scale' : `%operand${i}`));
  const types = operands.map((one, i) => (i === SCALE ? one.elementType : tensorText(one)));
  const type = tensorText(result);
  const values = [
    ...operands.map((one, i) => ({ ...one, name: operandNames[i]! })).filter((_, i) => i !== SCALE),
    { ...result, name: '%out' },
  ];
  const all = Array.from(letters([...Array(1 + Math.max(...loops.flat())).keys()])).join(', ');
  const maps = loops.map((own) => `affine_map<(${all}) -> (${Array.from(letters(own)).join(', ')})>`);
  const along = loops[0]!.find((loop) => !loops.at(-1)!.includes(loop))!;
  const scale = 1 / Math.sqrt(sizesOf(attention)!.get(along)!);
  return {
    operands: values,
    list: listOf(values),
    before: `%scale = arith.constant ${scale.toExponential()} : ${types[SCALE]!}`,
    operation: `${name} <indexing_maps = [${maps.join(', ')}]> ins(${operandNames.join(', ')} : ${types.join(', ')}) outs(%out : ${type}) {
  ^bb0(%score: f32):
    iree_linalg_ext.yield %score : f32
  } -> ${type}`,
    type,
  };
}

/** Most bytes of scores in memory. */
const MOST_SCORE_BYTES = 2 ** 28;

/**
 * All attentions of a program become products of queries and keys, their softmax, and its product with the values, or none does. By default, the
 * compiler's pipeline for a whole attention vectorises poorly, but each step gets good code.
 */
export const attentions: ReplaceableKind<Attention> = {
  is: isAttention,
  key: attentionKey,
  read: (text, _, isOfCopies) => readAttentions(text, isOfCopies),
  writtenOf: writtenAttention,
  resultOf: ({ result }) => result,
  formsOf: (attention) => (scoreBytes(attention) <= MOST_SCORE_BYTES ? [{ name: 'step-by-step' }] : []),
  passesAfter: () => [
    '"iree-linalg-ext-convert-attention-to-online-attention"',
    '"iree-linalg-ext-decompose-attention"',
  ],
};
