// A convolution or a pooling of a program: layout, shapes, strides and dilations.
import type { Operation } from 'mlir-parser-ts';
import { isFloat, isNarrowFloat } from '../workload/element-type.ts';
import { isSizes, isTensor, staticTensor, tensorText, typeName, type Tensor } from '../workload/tensor.ts';
import {
  genericConvolutionText,
  isWidening,
  readGenericConvolution,
  type Widening,
} from './generic-convolution.ts';
import { definitionIn } from './definitions.ts';
import { listOf, movesText, type Value, type Written } from './text.ts';

/**
 * A named convolution over an image of one, two or three dimensions. The filter of a pooling is its window: a shape without
 * values.
 */
export interface Convolution {
  /** Such as `linalg.conv_2d_nchw_fchw`. */
  readonly name: string;
  readonly image: Tensor;
  readonly filter: Tensor;
  readonly result: Tensor;
  /** Along each dimension of the image, in the order of the layout. */
  readonly strides: readonly number[];
  readonly dilations: readonly number[];
  /** Type of both attributes in the program's text, or `none` without attributes. Default: `vector`. */
  readonly steps?: Exclude<Steps, 'vector'>;
  /** Of a generic operation on integers; absent for a named operation. */
  readonly widening?: Widening;
}

/** The spelling of strides and dilations. */
export type Steps = 'vector' | 'tensor' | 'none';

/**
 * The dimensions of image and filter: n images, g groups, c channels and f filters of each group; d, h and w are spatial. Each
 * channel of a depthwise convolution or a pooling is a group.
 */
type Layout = readonly [image: string, filter: string];

/**
 * The default has a fast pipeline for floats in this layout. But front ends transpose filters to this layout, and the compiler fuses such a transpose
 * into the convolution, which becomes scalar code.
 */
const WITH_TRANSPOSES = 'linalg.conv_2d_nhwc_hwcf';

/**
 * A convolution of integers that the compiler makes of quantized operations. The compiler's pass that names operations takes unsigned integers for
 * signed ones, if only one operand is unsigned.
 */
const GENERIC = 'linalg.generic';

/** The same with a zero point of the image, as ONNX's QLinearConv. The compiler has no pass that takes it out. */
const WITH_ZERO_POINT = 'linalg.conv_2d_nchw_fchw_q';

/** Convolutions whose default is scalar code, by name. */
const LAYOUTS: Readonly<Record<string, Layout>> = {
  'linalg.conv_1d_ncw_fcw': ['ncw', 'fcw'],
  'linalg.conv_2d_nchw_fchw': ['nchw', 'fchw'],
  [GENERIC]: ['nchw', 'fchw'],
  [WITH_ZERO_POINT]: ['nchw', 'fchw'],
  [WITH_TRANSPOSES]: ['nhwc', 'hwcf'],
  'linalg.conv_3d_ncdhw_fcdhw': ['ncdhw', 'fcdhw'],
  'linalg.conv_3d_ndhwc_dhwcf': ['ndhwc', 'dhwcf'],
  'linalg.conv_2d_ngchw_gfchw': ['ngchw', 'gfchw'],
  'linalg.depthwise_conv_1d_ncw_cw': ['ngw', 'gw'],
  'linalg.depthwise_conv_2d_nchw_chw': ['nghw', 'ghw'],
  'linalg.depthwise_conv_3d_ncdhw_cdhw': ['ngdhw', 'gdhw'],
  'linalg.pooling_ncw_max': ['ngw', 'w'],
  'linalg.pooling_ncw_sum': ['ngw', 'w'],
  'linalg.pooling_nchw_max': ['nghw', 'hw'],
  'linalg.pooling_nchw_sum': ['nghw', 'hw'],
  'linalg.pooling_ndhwc_max': ['ndhwg', 'dhw'],
  'linalg.pooling_ndhwc_sum': ['ndhwg', 'dhw'],
};

/** The dimensions of image, filter and result. */
export function layoutOf({ name }: Pick<Convolution, 'name'>): readonly [...Layout, result: string] {
  const [image, filter] = LAYOUTS[name]!;
  return [image, filter, image.replace('c', 'f')];
}

export const isSpatial = (dimension: string): boolean => 'dhw'.includes(dimension);

/** The spatial dimensions of a layout, in the order of strides and dilations. */
export const spatialIn = (layout: string): string[] => Array.from(layout).filter(isSpatial);

/** An operation as a convolution whose default is slow; null for others. */
export function readConvolution(operation: Operation, text: Uint8Array): Convolution | null {
  const found = readAnyConvolution(operation, text);
  const isFast =
    found?.name === WITH_TRANSPOSES &&
    isFloat(found.image.elementType) &&
    !isNarrowFloat(found.image.elementType) &&
    !isTransposed(operation.operands[1]!.value, operation.start, text);
  return isFast ? null : found;
}

/**
 * An operation as a convolution.
 * @returns null for other operations, for dynamic shapes and for text that is not understood
 */
export function readAnyConvolution(operation: Operation, text: Uint8Array): Convolution | null {
  const { name, operands } = operation;
  if (!Object.hasOwn(LAYOUTS, name) || operands.length !== (name === WITH_ZERO_POINT ? 5 : 3)) return null;
  const [image, filter, result] = [operands[0]!, operands[1]!, operands.at(-1)!].map(({ type }) =>
    staticTensor(type),
  );
  if (!image || !filter || !result) return null;
  if (name === GENERIC) {
    const source = Buffer.from(text.subarray(operation.start, operation.end)).toString('latin1');
    const found = { name, image, filter, result, ...readGenericConvolution(source) };
    return isConvolution(found) ? found : null;
  }
  if (name === WITH_ZERO_POINT && !isZero(definitionIn(text, operands[3]!.value, operation.start)))
    return null;
  const moves = readMoves(operation, text, spatialIn(LAYOUTS[name]![0]).length);
  if (moves === null) return null;
  const found = { name, image, filter, result, ...moves };
  return isConvolution(found) ? found : null;
}

const isZero = (definition: string | null): boolean => definition?.startsWith('arith.constant 0 :') === true;

/** An operation that only moves the elements of its operand. */
const MOVING =
  /^(?:linalg\.transpose\b|linalg\.generic\b(?:(?!\^bb0)[^])*\^bb0\((%\w+):[^\n]*\n *linalg\.yield \1 )/;

/** Whether the text before an operation defines a value as another layout of a value. */
const isTransposed = (value: string, end: number, text: Uint8Array): boolean =>
  MOVING.test(definitionIn(text, value, end) ?? '');

/** How the windows of a convolution move, along each dimension of the image. */
export type Moves = Pick<Convolution, 'strides' | 'dilations' | 'steps'>;

/** @returns null for text that is not understood */
export function readMoves({ attributes }: Operation, text: Uint8Array, rank: number): Moves | null {
  const stepsOf = (attribute: string): { sizes: readonly number[]; written: Steps } | null => {
    const found = attributes.find((one) => one.name === attribute);
    // Both attributes default to 1.
    if (found === undefined) return { sizes: Array<number>(rank).fill(1), written: 'none' };
    return readSteps(Buffer.from(text.subarray(found.start, found.end)).toString('latin1'));
  };
  const [strides, dilations] = [stepsOf('strides'), stepsOf('dilations')];
  if (strides?.sizes.length !== rank || dilations?.sizes.length !== rank) return null;
  // The matcher writes both attributes in one spelling.
  const steps = strides.written;
  if (dilations.written !== steps) return null;
  return { strides: strides.sizes, dilations: dilations.sizes, ...(steps !== 'vector' && { steps }) };
}

/** `strides = dense<2> : vector<2xi64>` or `dense<[2, 1]> : tensor<2xi64>`. */
function readSteps(text: string): { sizes: readonly number[]; written: Steps } | null {
  const match = /= *dense<(?:(\d+)|\[([\d, ]+)\])> *: *(vector|tensor)<(\d)xi64>$/.exec(text.trim());
  if (match === null) return null;
  const [, splat, list, type, count] = match;
  const sizes =
    splat === undefined ? list!.split(',').map(Number) : Array<number>(Number(count)).fill(Number(splat));
  return { sizes, written: type as Steps };
}

/** Whether a value, for example from a file, is a convolution. Checks every field, because all are written into MLIR. */
export function isConvolution(value: unknown): value is Convolution {
  const { name, image, filter, result, strides, dilations, steps, widening } = (value ?? {}) as Partial<
    Record<keyof Convolution, unknown>
  >;
  return (
    (steps === undefined || steps === 'tensor' || steps === 'none') &&
    typeof name === 'string' &&
    Object.hasOwn(LAYOUTS, name) &&
    (name === GENERIC ? isWidening(widening) : widening === undefined) &&
    [image, filter, result].every(isTensor) &&
    [strides, dilations].every(isSizes) &&
    (name !== WITH_ZERO_POINT || isOfBytes(value as Convolution)) &&
    isConsistent(value as Convolution)
  );
}

const isOfBytes = ({ image, filter, result }: Convolution): boolean =>
  image.elementType === 'i8' && filter.elementType === 'i8' && result.elementType === 'i32';

export const hasZeroPoint = ({ name }: Convolution): boolean => name === WITH_ZERO_POINT;

/** The convolution of the integers as they are. */
export const withoutZeroPoint = ({
  image,
  filter,
  result,
  strides,
  dilations,
}: Convolution): Convolution => ({
  ...{ name: GENERIC, widening: 'arith.extsi' },
  ...{ image, filter, result, strides, dilations },
});

/** Sizes of a convolution; 1 for a dimension that its layout lacks. */
export interface Extents {
  readonly batch: number;
  readonly groups: number;
  /** Channels of the image and of the result (filters), in each group. */
  readonly channels: number;
  readonly filters: number;
  /** Spatial sizes of the image, the filter and the result. */
  readonly image: readonly number[];
  readonly filter: readonly number[];
  readonly result: readonly number[];
}

export function extentsOf(convolution: Convolution): Extents {
  const layouts = layoutOf(convolution);
  const { image, filter, result } = convolution;
  const sizesOf = (of: number, is: (dimension: string) => boolean): number[] =>
    [image, filter, result][of]!.shape.filter((_, at) => is(layouts[of]![at]!));
  const size = (dimension: string, of: number) => sizesOf(of, (one) => one === dimension)[0] ?? 1;
  return {
    ...{ batch: size('n', 0), groups: size('g', 0), channels: size('c', 0), filters: size('f', 2) },
    ...{ image: sizesOf(0, isSpatial), filter: sizesOf(1, isSpatial), result: sizesOf(2, isSpatial) },
  };
}

/** Sizes of its loops. */
export function loopsOf(convolution: Convolution): readonly number[] {
  const { batch, groups, channels, filters, filter, result } = extentsOf(convolution);
  return [batch, groups, channels, filters, ...filter, ...result];
}

/** Pixels in registers in the best tiles of forms, about. */
const PIXELS = 8;

/**
 * Estimated speed-up of a form by tuned tiles. The default keeps as many pixels in registers as the largest power of two that
 * divides the columns: one pixel for 7 columns.
 */
export function tuningGain(convolution: Convolution): number {
  const columns = extentsOf(convolution).result.at(-1)!;
  let pixels = 1;
  while (pixels < PIXELS && columns % (2 * pixels) === 0) pixels *= 2;
  return PIXELS / pixels;
}

/** Whether ranks fit the name, sizes agree, and the filter stays inside the image. */
function isConsistent(convolution: Convolution): boolean {
  const { image, filter, result, strides, dilations } = convolution;
  const layouts = layoutOf(convolution);
  const operands = [image, filter, result];
  if (operands.some(({ shape }, i) => shape.length !== layouts[i]!.length)) return false;
  const sizes = new Map<string, number>();
  const agree = operands.every(({ shape }, i) =>
    shape.every((size, at) => {
      const dimension = layouts[i]![at]!;
      if (isSpatial(dimension)) return true;
      const known = sizes.get(dimension) ?? size;
      sizes.set(dimension, known);
      return known === size;
    }),
  );
  const { image: places, filter: window, result: moved } = extentsOf(convolution);
  return (
    agree &&
    [strides, dilations].every(({ length }) => length === places.length) &&
    places.every((place, i) => {
      const reach = (moved[i]! - 1) * strides[i]! + (window[i]! - 1) * dilations[i]! + 1;
      return strides[i]! > 0 && dilations[i]! > 0 && reach <= place;
    })
  );
}

/** Whether image, filter and result have one element type. Only the named operation converts. */
export const hasOneType = ({ image, filter, result }: Convolution): boolean =>
  image.elementType === result.elementType && filter.elementType === result.elementType;

/** The same, or with floats of 16 bits whose products are summed in f32: see `widened`. */
export const hasOneWidth = (convolution: Convolution): boolean => {
  const { image, filter, result } = convolution;
  const isWidened = isNarrowFloat(image.elementType) && result.elementType === 'f32';
  return hasOneType(convolution) || (isWidened && filter.elementType === image.elementType);
};

/** Readable key, such as `conv_2d_nchw_fchw 1x64x58x58xf32,64x64x3x3xf32->1x64x56x56xf32 strides=1,1 dilations=1,1`. */
export function convolutionKey(convolution: Convolution): string {
  const { name, image, filter, result, strides, dilations, widening } = convolution;
  const [a, b, c] = [image, filter, result].map(typeName);
  const own = widening === undefined ? name.replace('linalg.', '') : widening.replace('arith.', 'conv_');
  return `${own} ${a!},${b!}->${c!} strides=${strides.join()} dilations=${dilations.join()}`;
}

/** A convolution as the program has it. @param name of its image */
export function writtenConvolution(convolution: Convolution, name = '%image'): Written {
  const { image, filter, result, strides, dilations, steps, widening } = convolution;
  const operands: readonly [Value, Value, Value] = [
    { ...image, name },
    { ...filter, name: '%filter' },
    { ...result, name: '%accumulator' },
  ];
  const [a, b, c] = operands.map(({ name }) => name);
  const type = tensorText(result);
  const moves = movesText(strides, dilations, steps);
  const types = `${tensorText(image)}, ${tensorText(filter)}`;
  if (hasZeroPoint(convolution)) {
    const all = [...operands, { name: '%zero', shape: [], elementType: 'i32', isScalar: true } as const];
    return {
      ...{ type, operands: all, list: listOf(all) },
      before: '%none = arith.constant 0 : i32',
      operation: `${convolution.name} ${moves} ins(${a}, ${b}, %zero, %none : ${types}, i32, i32) outs(${c} : ${type}) -> ${type}`,
    };
  }
  return {
    operands,
    list: listOf(operands),
    operation:
      widening === undefined
        ? `${convolution.name} ${moves} ins(${a}, ${b} : ${types}) outs(${c} : ${type}) -> ${type}`
        : genericConvolutionText({ strides, dilations, widening }, operands),
    type,
  };
}
