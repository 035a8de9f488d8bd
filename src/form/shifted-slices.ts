// Depthwise convolutions, and others with few channels in a group, as one element-wise operation on shifted slices of the image:
// a slice for each element of a filter. The compiler makes vectors along the columns, where the named operation becomes scalar
// code.
import { extentsOf, hasOneType } from './convolution.ts';
import type { Form } from './form.ts';
import { tensorText } from '../workload/tensor.ts';

/** Elements of a filter: each one is two operands of the operation. */
const MOST_ELEMENTS = 49;

/** Of a group: with more, a product of matrices does more with each value that it reads. */
const MOST_CHANNELS = 4;

export const shiftedSlices: Form = {
  name: 'shifted-slices',
  isFor: (convolution) => {
    const { groups, channels, filter } = extentsOf(convolution);
    const [rows, columns] = filter;
    return (
      groups > 1 &&
      hasOneType(convolution) &&
      /^b?f\d+$/.test(convolution.result.elementType) &&
      channels <= MOST_CHANNELS &&
      rows * columns * channels <= MOST_ELEMENTS
    );
  },
  write(writer, convolution, [image, filter, accumulator]) {
    const { batch, groups, channels, filters, filter: window, result } = extentsOf(convolution);
    const { strides, dilations } = convolution;
    const isDepthwise = image.shape.length === 4;
    const whole = (size: number) => [0, size, 1] as const;
    const images: string[] = [];
    const weights: string[] = [];
    for (let c = 0; c < channels; c++)
      for (let i = 0; i < window[0]; i++)
        for (let j = 0; j < window[1]; j++) {
          const moved = [
            [i * dilations[0], result[0], strides[0]],
            [j * dilations[1], result[1], strides[1]],
          ] as const;
          const channel = isDepthwise ? [] : [[c, null, 1] as const];
          images.push(writer.slice(image, [whole(batch), whole(groups), ...channel, ...moved]).name);
          const inside = [...channel, [i, null, 1], [j, null, 1]] as const;
          const own = isDepthwise ? [whole(groups)] : [whole(groups), whole(filters)];
          weights.push(writer.slice(filter, [...own, ...inside]).name);
        }
    const type = accumulator.elementType;
    const part = tensorText({ elementType: type, shape: [batch, groups, ...result] });
    const row = tensorText({ elementType: type, shape: isDepthwise ? [groups] : [groups, filters] });
    const [all, read, weight] = isDepthwise
      ? ['n, c, h, w', 'n, c, h, w', 'c']
      : ['n, g, f, h, w', 'n, g, h, w', 'g, f'];
    const map = (results: string) => `affine_map<(${all}) -> (${results})>`;
    const maps = [...images.map(() => map(read)), ...weights.map(() => map(weight)), map(all)];
    const iterators = all.split(', ').map(() => '"parallel"');
    const values = [...images, ...weights];
    const types = [...images.map(() => part), ...weights.map(() => row)];
    const steps = images.flatMap((_, i) => [
      `      %p${i} = arith.mulf %x${i}, %x${images.length + i} : ${type}`,
      `      %s${i} = arith.addf ${i === 0 ? '%out' : `%s${i - 1}`}, %p${i} : ${type}`,
    ]);
    return writer.define(
      accumulator,
      `linalg.generic {indexing_maps = [${maps.join(', ')}], iterator_types = [${iterators.join(', ')}]} ins(${values.join(', ')} : ${types.join(', ')}) outs(${accumulator.name} : ${tensorText(accumulator)}) {
    ^bb0(${values.map((_, i) => `%x${i}: ${type}`).join(', ')}, %out: ${type}):
${steps.join('\n')}
      linalg.yield %s${images.length - 1} : ${type}
    } -> ${tensorText(accumulator)}`,
    );
  },
};
