// Convolutions with a filter of one element as matmuls without transposes: filter (f, c) times image (c, h * w), for each image
// and each group.
import { extentsOf, hasOneType } from './convolution.ts';
import type { ConvolutionForm } from './form.ts';
import type { Value, Writer } from './text.ts';

export const matmul: ConvolutionForm = {
  name: 'matmul',
  isFor: (convolution) => {
    const { filter, channels } = extentsOf(convolution);
    return filter.every((size) => size === 1) && channels > 1 && hasOneType(convolution);
  },
  write(writer, convolution, [image, filter, accumulator]) {
    const { batch, groups, result } = extentsOf(convolution);
    const read = everyOther(writer, image, result, convolution.strides);
    // A single image or group needs no dimension.
    const isGrouped = image.shape.length === 5;
    const outer = [batch, ...(isGrouped ? [groups] : [])];
    const kept = outer.flatMap((size, d) => (size > 1 ? [d] : []));
    const flat = (value: Value): readonly (readonly number[])[] => {
      const rank = value.shape.length;
      const channel = rank - 3;
      const last = [[channel], [rank - 2, rank - 1]];
      if (kept.length === 0) return [[...outer.keys(), channel], last[1]!];
      // A dimension of size 1 joins the next kept dimension, or the last.
      const heads = kept.map((d, i) => {
        const from = i === 0 ? 0 : kept[i - 1]! + 1;
        const to = i === kept.length - 1 ? outer.length - 1 : d;
        return Array.from({ length: to - from + 1 }, (_, at) => from + at);
      });
      return [...heads, ...last];
    };
    const rhs = writer.collapse(read, flat(read));
    const into = writer.collapse(accumulator, flat(accumulator));
    const hasGroups = isGrouped && groups > 1;
    const [g, f, c, h, w] = isGrouped ? [0, 1, 2, 3, 4] : [-1, 0, 1, 2, 3];
    const lhs = writer.collapse(
      filter,
      hasGroups ? [[g], [f], [c, h, w]] : [isGrouped ? [g, f] : [f], [c, h, w]],
    );
    const [images, parts] = [batch > 1 ? 'n' : '', hasGroups ? 'g' : ''];
    const product = writer.contraction([lhs, rhs], writer.zeros(into), [
      `${parts}mk`,
      `${images}${parts}kp`,
      `${images}${parts}mp`,
    ]);
    // The accumulator is added last: see `pixelsByFilters`.
    return writer.add(writer.expand(product, flat(accumulator), accumulator.shape), accumulator);
  },
};

/**
 * The part of an image that a filter of one element reads. Strides become separate dimensions, because the compiler
 * makes scalar code of a matmul with strided reads.
 * @param first the first spatial dimension of the image; default: the spatial dimensions come last
 */
export function everyOther(
  writer: Writer,
  image: Value,
  result: readonly number[],
  strides: readonly number[],
  first = image.shape.length - result.length,
): Value {
  const rank = image.shape.length;
  const isPlace = (d: number) => d >= first && d < first + result.length;
  /** One entry for each dimension of the image. */
  const sliced = (place: (i: number) => readonly Slice[]): Slice[] =>
    image.shape.flatMap((size, d) => (isPlace(d) ? place(d - first) : [[0, size, 1] as const]));
  const step = (i: number) => strides[i]!;
  if (
    strides.every((stride) => stride === 1) ||
    result.some((size, i) => size * step(i) > image.shape[first + i]!)
  )
    return writer.slice(
      image,
      sliced((i) => [[0, result[i]!, step(i)]]),
    );
  const cut = writer.slice(
    image,
    sliced((i) => [[0, result[i]! * step(i), 1]]),
  );
  let next = 0;
  const groups = Array.from({ length: rank }, (_, d) => (isPlace(d) ? [next++, next++] : [next++]));
  const shape = cut.shape.flatMap((size, d) => (isPlace(d) ? [result[d - first]!, step(d - first)] : [size]));
  const split = writer.expand(cut, groups, shape);
  return writer.slice(
    split,
    sliced((i) => [
      [0, result[i]!, 1],
      [0, null, 1],
    ]),
  );
}

/** Offset, size and stride; a null size is 1 and drops the dimension. */
type Slice = readonly [offset: number, size: number | null, stride: number];
