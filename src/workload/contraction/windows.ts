// Convolutions as contractions: a filter moves over the rows and columns of an image. The compiler's pipelines expect all loops of the
// nest, even loops of one iteration.
import { VALUE } from '../../compiler/symbol.ts';
import type { AffineMap, Operand, Operation } from 'mlir-parser-ts';
import { staticTensor, tensorText, type Tensor } from '../tensor.ts';
import type { OperationWorkload } from '../kind.ts';
import { KIND_ORDER, type DimensionKind } from '../sizes.ts';
import type { Dimension } from './contraction.ts';
import { affineMap, term } from './text.ts';
import { groups, withWideUsers } from './unit-dimension.ts';

type Loop = 'image' | 'row' | 'column' | 'output' | 'filter-row' | 'filter-column' | 'input';

/** The axes along which a filter moves. */
type Axis = 'row' | 'column';

/** The loops of one kind of convolution, outermost first. A depthwise convolution has no loop over input channels. */
interface Layout {
  readonly loops: readonly Loop[];
  /** Loops of each dimension of an operand. The loops inside the filter also move along the rows and columns of the image. */
  readonly image: readonly Loop[];
  readonly filter: readonly Loop[];
  readonly result: readonly Loop[];
}

const LAYOUTS: readonly Layout[] = [
  {
    loops: ['image', 'row', 'column', 'output', 'filter-row', 'filter-column', 'input'],
    image: ['image', 'row', 'column', 'input'],
    filter: ['filter-row', 'filter-column', 'input', 'output'],
    result: ['image', 'row', 'column', 'output'],
  },
  {
    loops: ['image', 'row', 'column', 'output', 'filter-row', 'filter-column'],
    image: ['image', 'row', 'column', 'output'],
    filter: ['filter-row', 'filter-column', 'output'],
    result: ['image', 'row', 'column', 'output'],
  },
  {
    loops: ['image', 'output', 'row', 'column', 'input', 'filter-row', 'filter-column'],
    image: ['image', 'input', 'row', 'column'],
    filter: ['output', 'input', 'filter-row', 'filter-column'],
    result: ['image', 'output', 'row', 'column'],
  },
];

const isDepthwise = ({ loops }: Layout): boolean => !loops.includes('input');

const isReduction = (loop: Loop): boolean => /^(?:filter|input)/.test(loop);

const kindOf = (loop: Loop, layout: Layout): DimensionKind =>
  isReduction(loop) ? 'k' : loop !== 'output' ? 'm' : isDepthwise(layout) ? 'batch' : 'n';

/** Dimensions of a workload: of each kind, in the order of an operation with channels innermost. */
const dimensionsOf = (layout: Layout): readonly (readonly [Loop, DimensionKind])[] =>
  KIND_ORDER.flatMap((kind) =>
    LAYOUTS[0]!.loops
      .filter((loop) => layout.loops.includes(loop) && kindOf(loop, layout) === kind)
      .map((loop) => [loop, kind] as const),
  );

const isAxis = (loop: Loop): loop is Axis => loop === 'row' || loop === 'column';

/** A convolution, and the loops that its operation has. */
interface Windowed {
  readonly layout: Layout;
  readonly loops: readonly Loop[];
  /** Steps of the filter over the image, and steps inside the filter. */
  readonly steps: Readonly<Record<Axis, readonly [moved: number, inside: number]>>;
  readonly sizes: ReadonlyMap<Loop, number>;
  readonly operands: readonly [image: WindowOperand, filter: WindowOperand, result: WindowOperand];
}

interface WindowOperand extends Tensor {
  /** Such as `%4`. */
  readonly value: string;
  readonly isConstant: boolean;
}

/** The convolution that an operation computes; null for another operation, or another order of loops. */
const windowedOf = (operation: Operation): Windowed | null =>
  LAYOUTS.flatMap((layout) => windowedAs(layout, operation) ?? [])[0] ?? null;

function windowedAs(layout: Layout, { operands, indexingMaps, iteratorTypes }: Operation): Windowed | null {
  const [image, filter, result] = operands.map(operandOf);
  const [imageMap, filterMap, resultMap] = indexingMaps;
  if (!image || !filter || !result || !imageMap || !filterMap || !resultMap || operands.length !== 3)
    return null;
  const isBatched = resultMap.results.length === layout.result.length;
  const imageLoops = isBatched ? layout.image : layout.image.slice(1);
  const isMoved = (axis: Axis) =>
    imageMap.windows?.some((one) => one.result === imageLoops.indexOf(axis)) === true;
  const isThere: Partial<Record<Loop, boolean>> = {
    ...{ image: isBatched, 'filter-row': isMoved('row'), 'filter-column': isMoved('column') },
  };
  const loops = layout.loops.filter((loop) => isThere[loop] ?? true);
  const at = (loop: Loop) => loops.indexOf(loop);
  const own = (all: readonly Loop[]) => all.map(at).filter((loop) => loop >= 0);
  const axis = (along: Axis) => axisOf(imageMap, imageLoops.indexOf(along), at(along), at(`filter-${along}`));
  const [row, column] = [axis('row'), axis('column')];
  const isRight =
    (imageMap.windows ?? []).length > 0 &&
    iteratorTypes.join() === loops.map((loop) => (isReduction(loop) ? 'reduction' : 'parallel')).join() &&
    isPlain(resultMap, own(layout.result)) &&
    isPlain(filterMap, own(layout.filter)) &&
    imageMap.results.length === imageLoops.length &&
    imageLoops.every((loop, i) => isAxis(loop) || imageMap.results[i] === at(loop)) &&
    image.shape.length === imageMap.results.length &&
    filter.shape.length === filterMap.results.length &&
    result.shape.length === resultMap.results.length;
  if (!isRight || row === null || column === null) return null;
  const sizes = new Map<Loop, number>(layout.loops.map((loop) => [loop, 1]));
  for (const [{ shape }, map] of [[filter, filterMap] as const, [result, resultMap] as const])
    for (const [i, loop] of map.results.entries()) sizes.set(loops[loop!]!, shape[i]!);
  return { layout, loops, steps: { row, column }, sizes, operands: [image, filter, result] };
}

function operandOf({ value, type, constant }: Operand): WindowOperand | null {
  const tensor = staticTensor(type);
  return tensor && { value, ...tensor, isConstant: constant };
}

const isPlain = ({ results, strided, windows }: AffineMap, loops: readonly number[]): boolean =>
  strided === undefined && windows === undefined && results.join() === loops.join();

/** Steps along one dimension of an image; null where other loops run along the dimension. */
function axisOf(
  { results, strided = [], windows = [] }: AffineMap,
  at: number,
  along: number,
  inside: number,
): readonly [number, number] | null {
  const window = windows.find(({ result }) => result === at);
  if (window !== undefined) {
    const [one, other] = window.terms;
    return one.dimension === along && other.dimension === inside ? [one.stride, other.stride] : null;
  }
  const stride = strided.find(({ result }) => result === at);
  if (stride !== undefined) return stride.dimension === along ? [stride.stride, 1] : null;
  return results[at] === along ? [1, 1] : null;
}

/** The form of a convolution, with all loops of the nest; null for every other operation. */
export function windowedForm(operation: Operation): OperationWorkload | null {
  const windowed = windowedOf(operation);
  if (windowed === null) return null;
  const { layout, sizes, operands } = windowed;
  const [image, weights, result] = operands;
  const dimensions = dimensionsOf(layout);
  const index = (loop: Loop) => dimensions.findIndex(([one]) => one === loop);
  const loops = layout.loops.map(index);
  return {
    workload: {
      kind: 'contraction',
      dimensions: dimensions.map(([loop, kind]): Dimension => ({ kind, size: sizes.get(loop)! })),
      lhs: {
        elementType: image.elementType,
        dimensions: layout.image.flatMap((loop) =>
          isAxis(loop) ? [index(loop), index(`filter-${loop}`)] : [index(loop)],
        ),
      },
      rhs: { elementType: weights.elementType, dimensions: layout.filter.map(index) },
      accumulator: { elementType: result.elementType, dimensions: layout.result.map(index) },
      constantRhs: weights.isConstant,
      windows: [
        [index('row'), index('filter-row')],
        [index('column'), index('filter-column')],
      ],
    },
    writtenLoops: loops,
    loops,
  };
}

/** The name of the result that an operation makes, behind the indentation. */
const RESULT = new RegExp(String.raw`^( *)(${VALUE}) = `);

/**
 * The text with the attribute on a convolution, which gets all loops of the nest. The compiler itself adds missing loops only after it
 * has looked for attributes, and loses the attributes.
 * @param text as the compiler writes it: an operation begins a line with its result, its region ends a line with its type
 * @param attribute `name = value`
 * @returns null when the text is not written as the compiler writes it
 */
export function withAllLoops(text: string, root: Operation, attribute: string): string | null {
  const windowed = windowedOf(root);
  if (windowed === null) return null;
  const { layout, loops, steps, operands } = windowed;
  const { offset, before, after } = root.insertion;
  const put = before + attribute + after;
  const all = layout.loops;
  if (loops.length === all.length) return text.slice(0, offset) + put + text.slice(offset);
  const line = text.lastIndexOf('\n', root.start) + 1;
  const headEnd = text.indexOf('\n', root.start);
  const [, indentation, name] = RESULT.exec(text.slice(line, headEnd)) ?? [];
  if (indentation === undefined || name === undefined || offset < line || offset > headEnd) return null;

  const lacksImage = !loops.includes('image');
  const [image, weights, result] = operands.map((one, i) => {
    const shape = i === 1 ? layout.filter.map((loop) => windowed.sizes.get(loop)!) : one.shape;
    const whole = i !== 1 && lacksImage ? [1, ...shape] : shape;
    const [type, into] = [tensorText(one), tensorText({ ...one, shape: whole })];
    if (type === into) return { ...one, name: one.value, type, into, expansion: '' };
    // Rows and columns of the filter are neighbours in every layout.
    const added = groups(whole.length, i === 1 ? layout.filter.indexOf('filter-row') : 0);
    const expanded = `tensor.expand_shape ${one.value} ${added} output_shape [${whole.join(', ')}] : ${type} into ${into}`;
    return { ...one, name: NAMES[i]!, type, into, expansion: `${indentation}${NAMES[i]!} = ${expanded}\n` };
  });
  const close = `\n${indentation}} -> `;
  const closeAt = text.indexOf(close + result!.type, headEnd);
  const plainHead = text.slice(line, offset) + put + text.slice(offset, headEnd);
  const plainOperands = `ins(${image!.value}, ${weights!.value} : ${image!.type}, ${weights!.type}) outs(${result!.value} : ${result!.type})`;
  if (closeAt < 0 || !plainHead.includes(plainOperands)) return null;
  const at = (loop: Loop) => all.indexOf(loop);
  const plain = (loop: Loop) => `d${at(loop)}`;
  const axis = (along: Axis) =>
    [along, `filter-${along}` as const]
      .map((loop, i) => term({ dimension: at(loop), stride: steps[along][i]! }))
      .join(' + ');
  const maps = [
    layout.image.map((loop) => (isAxis(loop) ? axis(loop) : plain(loop))),
    layout.filter.map(plain),
    layout.result.map(plain),
  ].map((results) => affineMap(all.length, results));
  const iterators = all.map((loop) => (isReduction(loop) ? '"reduction"' : '"parallel"'));
  const head = plainHead
    .replace(/indexing_maps = \[.*?\](?=, iterator_types)/, `indexing_maps = [${maps.join(', ')}]`)
    .replace(/iterator_types = \[[^\]]*\]/, `iterator_types = [${iterators.join(', ')}]`)
    .replace(
      plainOperands,
      `ins(${image!.name}, ${weights!.name} : ${image!.into}, ${weights!.into}) outs(${result!.name} : ${result!.into})`,
    );
  const typeAt = closeAt + close.length;
  const next = text.indexOf('\n', typeAt) + 1;
  const rest = text.slice(typeAt + result!.type.length, next);
  const plainAround = { before: text.slice(0, line), after: text.slice(next) };
  const around = lacksImage
    ? withWideUsers(plainAround, indentation, { ...operands[2], name }, WHOLE)
    : plainAround;
  return [
    around.before,
    ...[image, weights, result].map((one) => one!.expansion),
    lacksImage ? head.replace(`${name} = `, `${WHOLE} = `) : head,
    text.slice(headEnd, typeAt),
    result!.into + rest,
    around.after,
  ].join('');
}

/** Names of operands with all dimensions. */
const NAMES = ['%image', '%filter', '%accumulator'];
const WHOLE = '%windowed';
