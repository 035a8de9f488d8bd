// Attention as one operation of a program: `iree_linalg_ext.attention`.
import { isIntegerWithin } from '../system/data.ts';
import { elementBits } from '../workload/element-type.ts';
import { isTensor, tensorFromText, tensorText, type Tensor } from '../workload/tensor.ts';

export interface Attention {
  readonly name: 'iree_linalg_ext.attention';
  /** Queries, keys, values and an optional mask. */
  readonly operands: readonly Tensor[];
  readonly result: Tensor;
  /** Number of scores: one for each query and key. */
  readonly scores: number;
}

const NAME = 'iree_linalg_ext.attention';

/** Such as `iree_linalg_ext.attention tensor<12x128x64xf32>, ...`. */
export const attentionKey = ({ name, operands, result }: Attention): string =>
  `${name} ${operands.map(tensorText).join(', ')} -> ${tensorText(result)}`;

/** Bytes of the scores. A decomposed attention keeps all of them in memory. */
export const scoreBytes = ({ scores, result }: Attention): number =>
  (scores * elementBits(result.elementType)) / 8;

/**
 * The attentions in a text of the compiler, each once.
 * @returns none if any of them is not understood, for example because of a dynamic size
 */
export function readAttentions(text: Uint8Array): Attention[] {
  const bytes = Buffer.from(text.buffer, text.byteOffset, text.byteLength);
  if (!bytes.includes(NAME)) return [];
  const source = bytes.toString('latin1');
  const count = source.match(/= "?iree_linalg_ext\.attention\b/g)?.length ?? 0;
  const found = [...source.matchAll(STATEMENT)].flatMap(([, maps, types, result]) => {
    const one = attentionOf(maps!, types!.split(/,\s*/), result!);
    return one === null ? [] : [one];
  });
  return found.length < count ? [] : [...new Map(found.map((one) => [attentionKey(one), one])).values()];
}

const STATEMENT =
  /= iree_linalg_ext\.attention\s*<?\{?\s*indexing_maps = \[(.*?)\]\s*\}?>?\s*(?:\{[^\n{}]*\}\s*)?ins\([^:()]*:\s*([^()]*)\)\s*outs\([^:()]*:\s*([^()]*)\)/g;

function attentionOf(maps: string, types: readonly string[], resultType: string): Attention | null {
  const accesses = [...maps.matchAll(/affine_map<\([^)]*\) -> \(([^)]*)\)>/g)].map(([, own]) =>
    own === '' ? [] : own!.split(', '),
  );
  const tensors = types.map(tensorFromText);
  const result = tensorFromText(resultType);
  if (accesses.length !== types.length + 1 || result === null) return null;
  const operands = tensors.filter((one) => one !== null);
  // The scale is a scalar.
  if (operands.length !== types.length - 1) return null;
  const sizes = new Map<string, number>();
  for (const [i, access] of accesses.entries())
    for (const [at, loop] of access.entries()) {
      const size = (tensors[i] ?? result).shape[at];
      if (size === undefined) return null;
      sizes.set(loop, size);
    }
  const [queries, keys] = [accesses[0]!, accesses[1]!];
  const own = accesses.at(-1)!;
  // Scores lack the dimension along a key: queries and keys share it, and the result lacks it.
  const scored = [...new Set([...queries, ...keys])].filter(
    (loop) => own.includes(loop) || !queries.includes(loop),
  );
  const scores = scored.reduce((product, loop) => product * sizes.get(loop)!, 1);
  return { name: NAME, operands, result, scores };
}

/** Whether a value, for example from a file, is an attention. */
export function isAttention(value: unknown): value is Attention {
  const { name, operands, result, scores } = (value ?? {}) as Partial<Record<keyof Attention, unknown>>;
  return (
    name === NAME &&
    Array.isArray(operands) &&
    [...(operands as unknown[]), result].every(isTensor) &&
    isIntegerWithin(scores, 1, Number.MAX_SAFE_INTEGER)
  );
}
