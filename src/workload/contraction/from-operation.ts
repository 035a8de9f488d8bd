// Reads contractions from the parser's operations.
import type { AffineMap, Operand, Operation, ShapedType } from 'mlir-parser-ts';
import type { Convert, OperationWorkload, SkippedOperation } from '../kind.ts';
import { KIND_ORDER, type DimensionKind } from '../sizes.ts';
import type { OperandForm } from './contraction.ts';
import { isSimpleType } from '../element-type.ts';
import { windowedForm } from './windows.ts';
import { because, isReason, type ReasonCode } from '../../system/reason.ts';

const skip = (
  code: ReasonCode,
  text?: string,
  matched: OperationWorkload | null = null,
): SkippedOperation => ({
  ...because(code, text),
  matched,
});

/** Name of the attribute by which a user or another tool configured the operation; null without one. */
export function ownConfiguration(operation: Operation): string | null {
  const names = ['compilation_info', 'lowering_config', 'iree.opt.data_tiling'];
  return operation.attributes.find(({ name }) => names.includes(name))?.name ?? null;
}

/** The contraction of an operation, or the reason why it is not tuned. */
export function readContraction(
  operation: Operation,
  convert: Convert,
): OperationWorkload | SkippedOperation {
  // The compiler has a separate pipeline for packed operands.
  if (/mmt4d$/.test(operation.name)) return skip('layout-unsupported', 'packed operands are not tuned yet');
  const own = ownConfiguration(operation);
  return own === null ? formOf(operation, convert) : skip('own-configuration', `already has ${own}`);
}

/** The form of an operation that the compiler made, with or without a configuration. Null without a form. */
export function generatedForm(operation: Operation): OperationWorkload | null {
  const form = operation.kind === 'contraction' ? formOf(operation, (type) => type) : null;
  return form === null || isReason(form) ? null : form;
}

/**
 * The contraction of a dispatch's root; null without one. Its operands may have strides. The form omits them, so callers need the dispatch.
 */
export function rootFormOf(operation: Operation): OperationWorkload | null {
  const { kind, body } = operation;
  if (kind !== 'contraction' || body !== 'multiply-add' || ownConfiguration(operation) !== null) return null;
  const windowed = windowedForm(operation);
  if (windowed !== null) return windowed;
  const form = contractionOf(operation, (type) => type, loopsOfResults);
  return isReason(form) ? null : form;
}

/** The form of an operation with or without a configuration, or the reason why it is not tuned. */
function formOf(operation: Operation, convert: Convert): OperationWorkload | SkippedOperation {
  const { body } = operation;
  if (body === 'other') return skip('body-unsupported');
  const form = contractionOf(operation, convert);
  if (body === 'multiply-add' || isReason(form)) return form;
  return body === 'multiply-add-unsigned'
    ? skip('type-unsupported', 'unsigned integers are not tuned yet', form)
    : skip('body-unsupported', undefined, form);
}

/**
 * Whether the compiler may make a contraction of an operation that is of another kind as written: an operation of a front end;
 * a convolution (named, or a generic with sums in its maps) whose filter or result has one element; a product with zero points.
 */
export const mayBecomeWork = ({ kind, name, body, indexingMaps }: Operation): boolean =>
  kind !== 'contraction' ||
  name.startsWith('linalg.quantized_') ||
  (body === 'multiply-add' && indexingMaps.some(({ results }) => results.includes(null)));

/** @param readMap gives the loop of each result of a map, or null for a map that is not understood */
function contractionOf(
  operation: Operation,
  convert: Convert,
  readMap: (map: AffineMap) => readonly number[] | null = plainResults,
): OperationWorkload | SkippedOperation {
  const [lhs, rhs, accumulator] = operation.operands;
  if (lhs === undefined || rhs === undefined || accumulator === undefined || operation.operands.length !== 3)
    return skip('operation-unclear', `has ${operation.operands.length} operands instead of 3`);
  const [lhsMap, rhsMap, accumulatorMap] = operation.indexingMaps.map(readMap);
  if (!lhsMap || !rhsMap || !accumulatorMap)
    return skip('layout-unsupported', 'an indexing map is not a plain permutation');

  const operands: [Operand, readonly number[]][] = [
    [lhs, lhsMap],
    [rhs, rhsMap],
    [accumulator, accumulatorMap],
  ];
  const sizes = new Map<number, number>();
  for (const [n, [{ type, role }, map]] of operands.entries()) {
    const shaped = tensorShape(type);
    if (shaped === null) return skip('operation-unclear', `the type of the ${role} is not understood`);
    if (shaped.encoding !== null) return skip('layout-unsupported', `the ${role} has an encoding`);
    if (!isSimpleType(shaped.elementType))
      return skip('type-unsupported', `elements of this type are not tuned yet: ${shaped.elementType}`);
    if (shaped.shape === null || shaped.shape.length !== map.length)
      return skip('operation-unclear', `the rank of the ${role} does not fit its indexing map`);
    for (const [i, loop] of map.entries()) {
      // The size along a strided dimension is not the size of the loop.
      if (operation.indexingMaps[n]!.results[i] === null) continue;
      const size = shaped.shape[i]!;
      const other = sizes.get(loop) ?? size;
      if (size === 0) return skip('too-little-work', 'an empty dimension');
      if (size < 0 !== other < 0)
        return skip('operation-unclear', 'a dimension is dynamic in one operand only');
      if (other !== size) return skip('operation-unclear', 'the shapes contradict each other');
      sizes.set(loop, size);
    }
  }

  const loopCount = operation.iteratorTypes.length;
  const kinds: DimensionKind[] = [];
  for (let loop = 0; loop < loopCount; loop++) {
    const inside = [lhsMap, rhsMap, accumulatorMap].map((map) => map.includes(loop));
    const kind = dimensionKind(inside[0]!, inside[1]!, inside[2]!);
    if (kind === null || !sizes.has(loop)) return skip('form-unsupported');
    if ((kind === 'k') !== (operation.iteratorTypes[loop] === 'reduction'))
      return skip('operation-unclear', 'iterator types contradict the indexing maps');
    kinds.push(kind);
  }
  if (!kinds.includes('k')) return skip('form-unsupported', 'nothing is summed');

  // Canonical order: by kind, then by the order in the result (for k, in the lhs).
  const order = [...accumulatorMap, ...lhsMap.filter((loop) => kinds[loop] === 'k')];
  const canonical = KIND_ORDER.flatMap((kind) => order.filter((loop) => kinds[loop] === kind));
  const writtenLoops = kinds.map((_, loop) => canonical.indexOf(loop));
  const form = (operand: Operand, map: readonly number[]): OperandForm => ({
    elementType: convert((operand.type as ShapedType).elementType),
    dimensions: map.map((loop) => canonical.indexOf(loop)),
  });
  return {
    workload: {
      kind: 'contraction',
      dimensions: canonical.map((loop) => {
        const size = sizes.get(loop)!;
        return size < 0 ? { kind: kinds[loop]!, size: 0, sizes: [] } : { kind: kinds[loop]!, size };
      }),
      lhs: form(lhs, lhsMap),
      rhs: form(rhs, rhsMap),
      accumulator: form(accumulator, accumulatorMap),
      constantRhs: rhs.constant,
    },
    writtenLoops,
    loops: [false, true].flatMap((isReduced) =>
      writtenLoops.filter((_, loop) => (kinds[loop] === 'k') === isReduced),
    ),
  };
}

function plainResults(map: AffineMap): readonly number[] | null {
  const results = map.results.filter((loop) => loop !== null);
  return results.length === map.results.length && new Set(results).size === results.length ? results : null;
}

/** The loop of each result, with or without a stride. Null for other expressions. */
function loopsOfResults({ results, strided = [] }: AffineMap): readonly number[] | null {
  const loops = results.map(
    (loop, i) => loop ?? strided.find(({ result }) => result === i)?.dimension ?? null,
  );
  return loops.includes(null) || new Set(loops).size !== loops.length ? null : (loops as number[]);
}

const tensorShape = (type: Operand['type']): ShapedType | null =>
  type.kind === 'tensor' || type.kind === 'memref' ? type : null;

function dimensionKind(lhs: boolean, rhs: boolean, result: boolean): DimensionKind | null {
  if (lhs && rhs) return result ? 'batch' : 'k';
  if (lhs && result) return 'm';
  if (rhs && result) return 'n';
  return null;
}
