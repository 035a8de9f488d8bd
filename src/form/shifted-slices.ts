// Depthwise convolutions, convolutions with few channels in each group, and poolings as one element-wise operation on shifted slices
// of the image, one slice for each element of a filter. The compiler vectorises it along the innermost dimension of the slices. The
// named operation becomes scalar code.
import {
  extentsOf,
  hasOneType,
  hasOneWidth,
  isSpatial,
  layoutOf,
  spatialIn,
  type Convolution,
} from './convolution.ts';
import type { ConvolutionForm } from './form.ts';
import type { Value } from './text.ts';

/** Elements of a filter. Each is two operands of the operation. */
const MOST_ELEMENTS = 49;

/** Channels of each group. With more, a matmul reuses values better. */
const MOST_CHANNELS = 4;

/** Columns of the result. Fewer do not fill vectors. */
const LEAST_COLUMNS = 4;

/** The operation of a pooling, by the end of its name. */
const POOLINGS: Readonly<Record<string, string>> = { max: 'arith.maximumf', sum: 'arith.addf' };

/** The operation that joins the values of a window; undefined for a convolution. */
export const poolingOf = ({ name }: Convolution): string | undefined =>
  POOLINGS[/^linalg\.pooling_\w+_(\w+)$/.exec(name)?.[1] ?? ''];

/** In the layout of the image. */
export const shiftedSlices: ConvolutionForm = slicesOf('shifted-slices', false);

/** With the groups innermost, between transposes: for too few columns, or columns with a stride. */
export const shiftedSlicesChannelsLast: ConvolutionForm = slicesOf('shifted-slices-channels-last', true);

/** The same for an image that is dequantized, once for all slices. Fused into the operation, that would be done for each slice. */
export const settledSlices: ConvolutionForm = slicesOf('settled-slices', true, true);

function isSliceable(convolution: Convolution): boolean {
  const { groups, channels, filter } = extentsOf(convolution);
  const elements = filter.reduce((product, size) => product * size, channels);
  return (
    (groups > 1 || poolingOf(convolution) !== undefined) &&
    hasOneWidth(convolution) &&
    /^b?f\d+$/.test(convolution.result.elementType) &&
    channels <= MOST_CHANNELS &&
    elements <= MOST_ELEMENTS
  );
}

/** Whether vectors along the innermost dimension of the result are full and read contiguous values. */
function isVectorisable(convolution: Convolution): boolean {
  const { shape } = convolution.result;
  const layout = layoutOf(convolution)[2];
  const innermost = shape.findLastIndex((size) => size > 1);
  const dimension = layout[innermost];
  if (dimension === undefined || !isSpatial(dimension)) return dimension === 'g';
  const stride = convolution.strides[spatialIn(layout).indexOf(dimension)];
  return stride === 1 && shape[innermost]! >= LEAST_COLUMNS;
}

function slicesOf(name: string, isMoved: boolean, isSettled = false): ConvolutionForm {
  return {
    name,
    isFor: (convolution) =>
      isSliceable(convolution) && (isMoved ? extentsOf(convolution).groups > 1 : isVectorisable(convolution)),
    write(writer, convolution, [image, filter, accumulator]) {
      const layouts = layoutOf(convolution);
      const spatial = spatialIn(layouts[0]);
      const { batch, channels, filter: window, result } = extentsOf(convolution);
      const { strides, dilations } = convolution;
      const pooling = poolingOf(convolution);
      const loops = Array.from(layouts[2]);
      if (isMoved) loops.push(...loops.splice(loops.indexOf('g'), 1));
      /** Maps the order of the image and the result to the order of the loops. */
      const order = loops.map((one) => layouts[2].indexOf(one));
      const type = accumulator.elementType;
      const moved = writer.move(image, order);
      // Of several padded images, the compiler would read the slice without padding from the image before its padding. With two readers, that image
      // is not written into the padded one.
      const from = isSettled || (isMoved && batch > 1) ? writer.settle(moved) : moved;
      const begun = writer.transpose(accumulator, order);

      const sizes = new Map(loops.map((one, at) => [one, begun.shape[at]!]));
      // Vectors read the filter along the groups, so groups are contiguous in it too.
      const filtered = isMoved
        ? Array.from('dhwcfg').filter((one) => layouts[1].includes(one))
        : Array.from(layouts[1]);
      const weights = writer.transpose(
        filter,
        filtered.map((one) => layouts[1].indexOf(one)),
      );

      const parts: Value[] = [];
      const factors: Value[] = [];
      for (let c = 0; c < channels; c++)
        for (const place of placesIn(window)) {
          const at = (dimension: string) => place[spatial.indexOf(dimension)]!;
          const slice = loops.map((one) => {
            if (one === 'f') return [c, null, 1] as const;
            const i = spatial.indexOf(one);
            return i < 0
              ? ([0, sizes.get(one)!, 1] as const)
              : ([at(one) * dilations[i]!, result[i]!, strides[i]!] as const);
          });
          parts.push(writer.slice(from, slice));
          if (pooling !== undefined) continue;
          const element = filtered.map((one) => {
            if (one === 'c') return [c, null, 1] as const;
            return isSpatial(one) ? ([at(one), null, 1] as const) : ([0, sizes.get(one)!, 1] as const);
          });
          factors.push(writer.slice(weights, element));
        }

      const inputs = [...parts, ...factors, begun];
      /** Widened as they are read: an image that is widened before is padded mostly, whose compiled code widens one element at a time. */
      const isWidened = !hasOneType(convolution);
      const wide = (x: number) => (isWidened ? `%w${x}` : `%x${x}`);
      const widening = [...parts, ...factors].map(
        ({ elementType }, x) => `%w${x} = arith.extf %x${x} : ${elementType} to ${type}`,
      );
      const sums = parts.flatMap((_, i) => {
        const before = i === 0 ? `%x${inputs.length - 1}` : `%s${i - 1}`;
        if (pooling !== undefined) return `%s${i} = ${pooling} ${before}, ${wide(i)} : ${type}`;
        return [
          `%p${i} = arith.mulf ${wide(i)}, ${wide(parts.length + i)} : ${type}`,
          `%s${i} = arith.addf ${before}, %p${i} : ${type}`,
        ];
      });
      const body = [...(isWidened ? widening : []), ...sums];
      const read = loops.filter((one) => one !== 'f').join(', ');
      const weighed = filtered.filter((one) => one === 'g' || one === 'f').join(', ');
      const whole = loops.join(', ');
      const summed = writer.generic({
        ...{ loops: whole, maps: [...parts.map(() => read), ...factors.map(() => weighed), whole, whole] },
        // The compiler moves transposes through element-wise operations, and then forgets the values that they begin with.
        ...{ inputs, into: writer.empty(begun), body, gives: `%s${parts.length - 1}` },
      });
      // Otherwise the transpose is fused into the pooling, and two readers of a pooling would both see it.
      return writer.transpose(
        isMoved && pooling !== undefined ? writer.settle(summed) : summed,
        loops.map((_, d) => order.indexOf(d)),
      );
    },
  };
}

/** All places in a window; the last dimension varies fastest. */
const placesIn = (window: readonly number[]): readonly (readonly number[])[] =>
  window.reduce<readonly (readonly number[])[]>(
    (places, size) => places.flatMap((place) => Array.from({ length: size }, (_, i) => [...place, i])),
    [[]],
  );
