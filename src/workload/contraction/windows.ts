// Filters that are moved over an image, as convolutions do, with the channels innermost: the compiler has a pipeline of its
// own for them, which knows them with a batch dimension and moved along both dimensions of the image.
import type { AffineMap, Operand, Operation, Term } from 'mlir-parser-ts';
import { staticTensor, tensorText, type Tensor } from '../tensor.ts';
import type { OperationForm } from '../kind.ts';
import type { Contraction, Dimension, DimensionKind } from './contraction.ts';

/** What one loop of such an operation is. */
type Loop = 'image' | 'row' | 'column' | 'output' | 'filter-row' | 'filter-column' | 'input';

/** Each output channel is made of all input channels, or, depthwise, each channel by itself. */
type Filter = 'dense' | 'depthwise';

/** The loops as that pipeline has them; an operation has no `image` where there is one, and no filter loop of size one. */
const LOOPS: Readonly<Record<Filter, readonly Loop[]>> = {
  dense: ['image', 'row', 'column', 'output', 'filter-row', 'filter-column', 'input'],
  depthwise: ['image', 'row', 'column', 'output', 'filter-row', 'filter-column'],
};

/** In the order of a workload's dimensions. */
const DIMENSIONS: Readonly<Record<Filter, readonly (readonly [Loop, DimensionKind])[]>> = {
  dense: [
    ['image', 'm'],
    ['row', 'm'],
    ['column', 'm'],
    ['output', 'n'],
    ['filter-row', 'k'],
    ['filter-column', 'k'],
    ['input', 'k'],
  ],
  depthwise: [
    ['output', 'batch'],
    ['image', 'm'],
    ['row', 'm'],
    ['column', 'm'],
    ['filter-row', 'k'],
    ['filter-column', 'k'],
  ],
};

const CHANNEL: Readonly<Record<Filter, Loop>> = { dense: 'input', depthwise: 'output' };
const FILTER: Readonly<Record<Filter, readonly Loop[]>> = {
  dense: ['filter-row', 'filter-column', 'input', 'output'],
  depthwise: ['filter-row', 'filter-column', 'output'],
};
const RESULT: readonly Loop[] = ['image', 'row', 'column', 'output'];

/** An operation that moves a filter, and which of the loops it has. */
interface Windowed {
  readonly filter: Filter;
  readonly loops: readonly Loop[];
  /** Steps along rows and columns of the image, and between what a filter reads. */
  readonly steps: Readonly<Record<'row' | 'column', readonly [moved: number, inside: number]>>;
  readonly sizes: ReadonlyMap<Loop, number>;
  readonly operands: readonly [image: WindowOperand, filter: WindowOperand, result: WindowOperand];
}

interface WindowOperand extends Tensor {
  /** Such as `%4`. */
  readonly value: string;
  readonly isConstant: boolean;
}

/** How an operation moves a filter; null for one that does not, or not with its loops in this order. */
function windowedOf({ operands, indexingMaps, iteratorTypes }: Operation): Windowed | null {
  const [image, filter, result] = operands.map(operandOf);
  const [imageMap, filterMap, resultMap] = indexingMaps;
  if (!image || !filter || !result || !imageMap || !filterMap || !resultMap || operands.length !== 3)
    return null;
  const windows = imageMap.windows?.length ?? 0;
  const kind = filterMap.results.length === windows + 2 ? 'dense' : 'depthwise';
  const isBatched = resultMap.results.length === 4;
  const first = isBatched ? 1 : 0;
  const moved = (loop: Loop) => {
    const at = first + (loop === 'filter-row' ? 0 : 1);
    return imageMap.windows?.some((one) => one.result === at) === true;
  };
  const loops = LOOPS[kind].filter((loop) =>
    loop === 'image' ? isBatched : loop === 'filter-row' || loop === 'filter-column' ? moved(loop) : true,
  );
  const at = (loop: Loop) => loops.indexOf(loop);
  const own = (all: readonly Loop[]) => all.map(at).filter((loop) => loop >= 0);
  const row = axisOf(imageMap, first, at('row'), at('filter-row'));
  const column = axisOf(imageMap, first + 1, at('column'), at('filter-column'));
  const isRight =
    windows > 0 &&
    iteratorTypes.join() ===
      loops.map((loop) => (/^(?:filter|input)/.test(loop) ? 'reduction' : 'parallel')).join() &&
    isPlain(resultMap, own(RESULT)) &&
    isPlain(filterMap, own(FILTER[kind])) &&
    imageMap.results.length === first + 3 &&
    imageMap.results.at(-1) === at(CHANNEL[kind]) &&
    (!isBatched || imageMap.results[0] === 0) &&
    image.shape.length === imageMap.results.length &&
    filter.shape.length === filterMap.results.length &&
    result.shape.length === resultMap.results.length;
  if (!isRight || row === null || column === null) return null;
  const sizes = new Map<Loop, number>(LOOPS[kind].map((loop) => [loop, 1]));
  for (const [{ shape }, map] of [[filter, filterMap] as const, [result, resultMap] as const])
    for (const [i, loop] of map.results.entries()) sizes.set(loops[loop!]!, shape[i]!);
  return { filter: kind, loops, steps: { row, column }, sizes, operands: [image, filter, result] };
}

function operandOf({ value, type, constant }: Operand): WindowOperand | null {
  const tensor = staticTensor(type);
  return tensor && { value, ...tensor, isConstant: constant };
}

const isPlain = ({ results, strided, windows }: AffineMap, loops: readonly number[]): boolean =>
  strided === undefined && windows === undefined && results.join() === loops.join();

/** The steps along one dimension of an image; null where it does not run along this loop, with this loop of the filter. */
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

/** The form of an operation that moves a filter, as the pipeline has it; null for every other operation. */
export function windowedForm(operation: Operation): OperationForm<Contraction> | null {
  const windowed = windowedOf(operation);
  if (windowed === null) return null;
  const { filter, sizes, operands } = windowed;
  const [image, weights, result] = operands;
  const order = DIMENSIONS[filter].map(([loop]) => loop);
  const index = (loop: Loop) => order.indexOf(loop);
  const loops = LOOPS[filter].map(index);
  return {
    workload: {
      kind: 'contraction',
      dimensions: DIMENSIONS[filter].map(([loop, kind]): Dimension => ({ kind, size: sizes.get(loop)! })),
      lhs: {
        elementType: image.elementType,
        dimensions: (['image', 'row', 'filter-row', 'column', 'filter-column', CHANNEL[filter]] as const).map(
          index,
        ),
      },
      rhs: { elementType: weights.elementType, dimensions: FILTER[filter].map(index) },
      accumulator: { elementType: result.elementType, dimensions: RESULT.map(index) },
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

/**
 * The text with the attribute on a root that moves a filter, in all loops of the pipeline. The compiler itself adds those that
 * are missing only after it has looked for attributes, and loses them.
 * @param text as the compiler writes it: an operation begins a line with its result, its region ends one with its type
 * @param attribute `name = value`
 * @returns null when the operation is not written as the compiler writes it
 */
export function withAllLoops(text: string, root: Operation, attribute: string): string | null {
  const windowed = windowedOf(root);
  if (windowed === null) return null;
  const { filter, loops, steps, operands } = windowed;
  const { offset, before, after } = root.insertion;
  const put = before + attribute + after;
  const all = LOOPS[filter];
  if (loops.length === all.length) return text.slice(0, offset) + put + text.slice(offset);
  const line = text.lastIndexOf('\n', root.start) + 1;
  const headEnd = text.indexOf('\n', root.start);
  const [, indentation, name] = /^( *)(%[\w#]+) = /.exec(text.slice(line, headEnd)) ?? [];
  if (indentation === undefined || name === undefined || offset < line || offset > headEnd) return null;

  const lacksImage = !loops.includes('image');
  const lacksFilter = !(loops.includes('filter-row') && loops.includes('filter-column'));
  const [image, weights, result] = operands.map((one, i): Expanded => {
    const shape =
      i === 1
        ? FILTER[filter].map((loop) => windowed.sizes.get(loop)!)
        : [...(lacksImage ? [1] : []), ...one.shape];
    const isExpanded = i === 1 ? lacksFilter : lacksImage;
    const type = tensorText(one);
    return {
      ...one,
      name: isExpanded ? NAMES[i]! : one.value,
      type,
      isExpanded,
      shape,
      into: tensorText({ ...one, shape }),
    };
  });
  const expansions = [image!, weights!, result!]
    .filter(({ isExpanded }) => isExpanded)
    .map(
      ({ name: expanded, value, shape, type, into }) =>
        `${indentation}${expanded} = tensor.expand_shape ${value} ${groups(shape.length)} output_shape [${shape.join(', ')}] : ${type} into ${into}\n`,
    );
  const close = `\n${indentation}} -> `;
  const closeAt = text.indexOf(close + result!.type, headEnd);
  const plainHead = text.slice(line, offset) + put + text.slice(offset, headEnd);
  const plainOperands = `ins(${image!.value}, ${weights!.value} : ${image!.type}, ${weights!.type}) outs(${result!.value} : ${result!.type})`;
  if (closeAt < 0 || !plainHead.includes(plainOperands)) return null;
  const at = (loop: Loop) => all.indexOf(loop);
  const plain = (some: readonly Loop[]) => some.map((loop) => `d${at(loop)}`).join(', ');
  const axis = (along: 'row' | 'column') =>
    [along, `filter-${along}` as const].map((loop, i) => times(at(loop), steps[along][i]!)).join(' + ');
  const maps = [
    `d${at('image')}, ${axis('row')}, ${axis('column')}, d${at(CHANNEL[filter])}`,
    plain(FILTER[filter]),
    plain(RESULT),
  ].map((results) => `affine_map<(${plain(all)}) -> (${results})>`);
  const iterators = all.map((loop) => (/^(?:filter|input)/.test(loop) ? '"reduction"' : '"parallel"'));
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
  const collapse = `${indentation}${name} = tensor.collapse_shape ${WHOLE} ${groups(result!.shape.length)} : ${result!.into} into ${result!.type}\n`;
  return [
    text.slice(0, line),
    ...expansions,
    lacksImage ? head.replace(`${name} = `, `${WHOLE} = `) : head,
    text.slice(headEnd, typeAt),
    result!.into + rest,
    lacksImage ? collapse : '',
    text.slice(next),
  ].join('');
}

interface Expanded extends WindowOperand {
  /** Of the value with all dimensions, and its type; `type` is the one without. */
  readonly name: string;
  readonly into: string;
  readonly type: string;
  readonly isExpanded: boolean;
}

const NAMES = ['%image', '%filter', '%accumulator'];
const WHOLE = '%windowed';

/** How so many dimensions are those of a tensor that lacks one of the first two. */
const groups = (rank: number): string =>
  `[[0, 1], ${Array.from({ length: rank - 2 }, (_, i) => `[${i + 2}]`).join(', ')}]`;

/** Such as `d1 * 2`. */
const times = (dimension: Term['dimension'], stride: Term['stride']): string =>
  stride === 1 ? `d${dimension}` : `d${dimension} * ${stride}`;
