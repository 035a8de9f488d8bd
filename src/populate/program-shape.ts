// Softmaxes and attentions of a sweep. They become whole dispatches, which are tuned in a program, so each gets a program with one
// operation.
import { UserError } from '../system/user-error.ts';
import { isFloat } from '../workload/element-type.ts';
import { parseSizeList, product, sizesOf, type SweepText } from './ranges.ts';
import { parseElementTypes } from './shape.ts';

/** A softmax over `m` rows of `n` elements, or an attention of `m` queries over `n` keys of `k` elements; for each of a batch. */
export interface ProgramShape {
  readonly op: ProgramOp;
  /** Leading dimensions. The compiler keeps them separate for a softmax. */
  readonly batch: readonly number[];
  readonly m: number;
  readonly n: number;
  /** Size of a head; null for a softmax. */
  readonly k: number | null;
  readonly elementType: string;
}

/** The sizes of each operation after its batch. */
const SIZES = { softmax: ['m', 'n'], attention: ['m', 'n', 'k'] } as const;

export type ProgramOp = keyof typeof SIZES;

export const PROGRAM_OPS = Object.keys(SIZES) as ProgramOp[];

export const isProgramOp = (text: string): text is ProgramOp => Object.hasOwn(SIZES, text);

const dimensionsOf = ({ batch, m, n, k }: ProgramShape) => [...batch, m, n, ...(k === null ? [] : [k])];

/** A file name, such as `softmax_12x200x200_f32`. */
export const nameOf = (shape: ProgramShape): string =>
  `${shape.op}_${dimensionsOf(shape).join('x')}_${shape.elementType}`;

/**
 * Every combination of a sweep for one of these operations.
 * @throws UserError naming the option
 */
export function programShapesOf(op: ProgramOp, sweep: SweepText): ProgramShape[] {
  const taken: readonly string[] = SIZES[op];
  const sizes = (['m', 'n', 'k'] as const).map((option): readonly (number | null)[] => {
    if (taken.includes(option)) return sizesOf(sweep, option, taken, `a sweep of ${op}`);
    if (sweep[option] !== undefined) throw new UserError(`--${option}: ${op} has no such size`);
    return [null];
  });
  if (sweep.rhsConstant !== undefined) throw new UserError(`--rhs-constant: ${op} has no right-hand side`);
  const batches = (sweep.batch ?? '1').split(',').flatMap((part): number[][] =>
    // Several leading dimensions, such as 1x16.
    part.includes('x')
      ? [part.split('x').flatMap((size) => parseSizeList(size, '--batch'))]
      : parseSizeList(part, '--batch').map((size) => [size]),
  );
  const types = (sweep.dtype ?? 'f32').split(',').map((text) => {
    const { lhs, rhs } = parseElementTypes(text);
    if (lhs !== rhs || !isFloat(lhs))
      throw new UserError(`--dtype ${text}: ${op} takes one float type, such as f32`);
    return lhs;
  });
  const [rows, columns, depths] = sizes as [number[], number[], (number | null)[]];
  return product(types, batches, rows, columns, depths).map(
    ([elementType, batch, m, n, k]): ProgramShape => ({
      ...{ op, batch, m, n, k, elementType },
    }),
  );
}

/** MLIR of a program with one operation. */
export const programText = (shape: ProgramShape): string =>
  shape.op === 'softmax' ? softmaxText(shape) : attentionText(shape);

function softmaxText(shape: ProgramShape): string {
  const { batch, elementType } = shape;
  const type = `tensor<${[...dimensionsOf(shape), elementType].join('x')}>`;
  return `func.func @softmax(%x: ${type}) -> ${type} {
  %empty = tensor.empty() : ${type}
  %y = linalg.softmax dimension(${batch.length + 1}) ins(%x : ${type}) outs(%empty : ${type}) -> ${type}
  return %y : ${type}
}
`;
}

/** Queries `[batch, m, k]`, keys and values `[batch, n, k]`. Scores are divided by the square root of `k`. */
function attentionText({ batch, m, n, k, elementType }: ProgramShape): string {
  const tensor = (rows: number) => `tensor<${[...batch, rows, k!, elementType].join('x')}>`;
  const [queries, keys] = [tensor(m), tensor(n)];
  // Loops over batch, queries, elements of a key, keys, and elements of a value.
  const outer = batch.map((_, i) => `d${i}`);
  const [query, depth, key, width] = [0, 1, 2, 3].map((i) => `d${batch.length + i}`);
  const map = (...results: readonly (string | undefined)[]) =>
    `affine_map<(${[...outer, query, depth, key, width].join(', ')}) -> (${results.join(', ')})>`;
  const maps = [
    map(...outer, query, depth),
    map(...outer, key, depth),
    map(...outer, key, width),
    map(),
    map(...outer, query, width),
  ];
  return `func.func @attention(%q: ${queries}, %k: ${keys}, %v: ${keys}) -> ${queries} {
  %scale = arith.constant ${(1 / Math.sqrt(k!)).toExponential(8)} : ${elementType}
  %empty = tensor.empty() : ${queries}
  %y = iree_linalg_ext.attention <indexing_maps = [${maps.join(', ')}]> ins(%q, %k, %v, %scale : ${queries}, ${keys}, ${keys}, ${elementType}) outs(%empty : ${queries}) {
  ^bb0(%score: f32):
    iree_linalg_ext.yield %score : f32
  } -> ${queries}
  return %y : ${queries}
}
`;
}
