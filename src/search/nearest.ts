/** Index of the nearest value by ratio. 0, which leaves a tile out, has no neighbour. */
export const nearestByRatio = (values: readonly number[], wanted: number): number =>
  values.reduce(
    (best, value, i) => (distance(value, wanted) < distance(values[best]!, wanted) ? i : best),
    0,
  );

const distance = (a: number, b: number): number =>
  Math.min(a, b) <= 0 ? Infinity : Math.abs(Math.log(a / b));
