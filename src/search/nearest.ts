// The value of a knob that is nearest to a wanted one.

/** Index of the value that is nearest by ratio. 0, which leaves a tile out, is near to no other value. */
export const nearestByRatio = (values: readonly number[], wanted: number): number =>
  values.reduce(
    (best, value, i) => (distance(value, wanted) < distance(values[best]!, wanted) ? i : best),
    0,
  );

const distance = (a: number, b: number): number =>
  Math.min(a, b) <= 0 ? Infinity : Math.abs(Math.log(a / b));
