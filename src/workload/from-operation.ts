// From what the parser found to what is tuned.
import type { AffineMap, Operand, Operation, ShapedType } from 'mlir-parser-ts';
import type { DimensionKind, OperandForm, Workload } from './workload.ts';

/** A workload, with the order in which this operation runs over its dimensions. */
export interface OperationWorkload {
  readonly workload: Workload;
  /**
   * For each loop, outermost first, the index into `workload.dimensions`: the operation's own order, with reductions
   * moved innermost, as the compiler does before any configuration is looked at.
   */
  readonly loops: readonly number[];
  /** The same in the order in which the operation itself is written, as matchers of the whole program see it. */
  readonly writtenLoops: readonly number[];
}

/** Why an operation is not tuned. */
export interface Skipped {
  readonly skipped: string;
  /** What matchers, which do not look into bodies, take it for; null when they do not. */
  readonly alike: OperationWorkload | null;
}

const skip = (skipped: string, alike: OperationWorkload | null = null): Skipped => ({ skipped, alike });

const KIND_ORDER: readonly DimensionKind[] = ['batch', 'm', 'n', 'k'];

/**
 * The canonical workload of an operation, or the reason why it has none. Dynamic dimensions have no sizes yet. Pure.
 * @param convert what the compile makes of an element type before code is generated
 */
export function workloadOf(
  operation: Operation,
  convert: (elementType: string) => string = (type) => type,
): OperationWorkload | Skipped {
  if (operation.kind === 'convolution') return skip('convolutions are not tuned yet');
  if (operation.kind === 'to-normalise') return skip('operations of this dialect are not tuned yet');
  // Its operands are packed already, and the compiler has a pipeline of its own for it.
  if (/mmt4d$/.test(operation.name)) return skip('packed operands are not tuned yet');
  const own = ownConfiguration(operation);
  if (own !== null) return skip(`already has ${own}`);
  const isUnsigned = operation.body === 'multiply-add-unsigned';
  if (operation.body !== 'multiply-add' && !isUnsigned) return skip('not a plain multiply-add');
  const form = contractionOf(operation, convert);
  return isUnsigned && !('skipped' in form) ? skip('unsigned integers are not tuned yet', form) : form;
}

function contractionOf(
  operation: Operation,
  convert: (elementType: string) => string,
): OperationWorkload | Skipped {
  const [lhs, rhs, accumulator] = operation.operands;
  if (lhs === undefined || rhs === undefined || accumulator === undefined || operation.operands.length !== 3)
    return skip(`has ${operation.operands.length} operands instead of 3`);
  const [lhsMap, rhsMap, accumulatorMap] = operation.indexingMaps.map(plainResults);
  if (!lhsMap || !rhsMap || !accumulatorMap) return skip('an indexing map is not a plain permutation');

  const operands: [Operand, readonly number[]][] = [
    [lhs, lhsMap],
    [rhs, rhsMap],
    [accumulator, accumulatorMap],
  ];
  const sizes = new Map<number, number>();
  for (const [{ type, role }, map] of operands) {
    const shaped = tensorShape(type);
    if (shaped === null) return skip(`the type of the ${role} is not understood`);
    if (shaped.encoding !== null) return skip(`the ${role} has an encoding`);
    if (shaped.shape === null || shaped.shape.length !== map.length)
      return skip(`the rank of the ${role} does not fit its indexing map`);
    for (const [i, loop] of map.entries()) {
      const size = shaped.shape[i]!;
      const other = sizes.get(loop) ?? size;
      if (size === 0) return skip('an empty dimension');
      if (size < 0 !== other < 0) return skip('a dimension is dynamic in one operand only');
      if (other !== size) return skip('the shapes contradict each other');
      sizes.set(loop, size);
    }
  }

  const loopCount = operation.iteratorTypes.length;
  const kinds: DimensionKind[] = [];
  for (let loop = 0; loop < loopCount; loop++) {
    const inside = [lhsMap, rhsMap, accumulatorMap].map((map) => map.includes(loop));
    const kind = dimensionKind(inside[0]!, inside[1]!, inside[2]!);
    if (kind === null || !sizes.has(loop)) return skip('not a contraction of two operands');
    if ((kind === 'k') !== (operation.iteratorTypes[loop] === 'reduction'))
      return skip('iterator types contradict the indexing maps');
    kinds.push(kind);
  }
  if (!kinds.includes('k')) return skip('nothing is summed');

  // Canonical order: by kind; inside a kind as the result (for k: the lhs) lays the dimensions out.
  const order = [...accumulatorMap, ...lhsMap.filter((loop) => kinds[loop] === 'k')];
  const canonical = order
    .slice()
    .sort(
      (a, b) =>
        KIND_ORDER.indexOf(kinds[a]!) - KIND_ORDER.indexOf(kinds[b]!) || order.indexOf(a) - order.indexOf(b),
    );
  const form = (operand: Operand, map: readonly number[]): OperandForm => ({
    elementType: convert((operand.type as ShapedType).elementType),
    dimensions: map.map((loop) => canonical.indexOf(loop)),
  });
  return {
    workload: {
      dimensions: canonical.map((loop) => {
        const size = sizes.get(loop)!;
        return size < 0 ? { kind: kinds[loop]!, size: 0, sizes: [] } : { kind: kinds[loop]!, size };
      }),
      lhs: form(lhs, lhsMap),
      rhs: form(rhs, rhsMap),
      accumulator: form(accumulator, accumulatorMap),
      constantRhs: rhs.constant,
    },
    writtenLoops: kinds.map((_, loop) => canonical.indexOf(loop)),
    loops: [
      ...kinds.flatMap((kind, loop) => (kind === 'k' ? [] : [canonical.indexOf(loop)])),
      ...kinds.flatMap((kind, loop) => (kind === 'k' ? [canonical.indexOf(loop)] : [])),
    ],
  };
}

/** The attribute with which a user or an earlier tool has already decided; null when there is none. */
export function ownConfiguration(operation: Operation): string | null {
  const names = ['compilation_info', 'lowering_config', 'iree.opt.data_tiling'];
  return operation.attributes.find(({ name }) => names.includes(name))?.name ?? null;
}

function plainResults(map: AffineMap): readonly number[] | null {
  const results = map.results.filter((loop) => loop !== null);
  return results.length === map.results.length && new Set(results).size === results.length ? results : null;
}

function tensorShape(type: Operand['type']): ShapedType | null {
  return type.kind === 'tensor' || type.kind === 'memref' ? type : null;
}

function dimensionKind(lhs: boolean, rhs: boolean, result: boolean): DimensionKind | null {
  if (lhs && rhs) return result ? 'batch' : 'k';
  if (lhs && result) return 'm';
  if (rhs && result) return 'n';
  return null;
}
