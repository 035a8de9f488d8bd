// Axes of ratios and of rates.

/** The least and the greatest value of an axis. */
export type Range = readonly [low: number, high: number];

/** Position of a value on a logarithmic axis, from 0 to 1. */
export const along = ([low, high]: Range, value: number): number =>
  Math.log(value / low) / Math.log(high / low);

const RATIOS = [
  0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 0.7, 0.8, 0.9, 1, 1.1, 1.2, 1.5, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000,
];

/** The least and the greatest of many values. */
export const rangeOf = (values: readonly number[]): Range => [
  values.reduce((a, b) => Math.min(a, b)),
  values.reduce((a, b) => Math.max(a, b)),
];

/** Range of a logarithmic axis of ratios, with some room at both ends. It has 1 and `least`. */
export function ratioDomain(ratios: readonly number[], least = 1): Range {
  const [low, high] = rangeOf([...ratios, least, 1.1]);
  const room = (high / low) ** 0.04;
  return [low / room, high * room];
}

/** Round values on such an axis, as many as fit. */
export function ratioTicks([low, high]: Range, width: number): number[] {
  const inside = RATIOS.filter((ratio) => ratio >= low && ratio <= high);
  const apart = (58 / width) * Math.log(high / low);
  const chosen: number[] = inside.includes(1) ? [1] : [];
  for (const ratio of [...inside].sort((a, b) => Math.abs(Math.log(a)) - Math.abs(Math.log(b))))
    if (chosen.every((other) => Math.abs(Math.log(ratio / other)) >= apart)) chosen.push(ratio);
  return chosen;
}

/** Round values of a logarithmic axis over decades: 1, 2 and 5 of each decade if they fit, else 1. */
export function decadeTicks([low, high]: Range, most: number): number[] {
  const [first, last] = [Math.floor(Math.log10(low)), Math.ceil(Math.log10(high))];
  const powers = Array.from({ length: last - first + 1 }, (_, i) => 10 ** (first + i));
  const inside = (values: number[]) => values.filter((value) => value >= low && value <= high);
  const fine = inside(powers.flatMap((power) => [power, 2 * power, 5 * power]));
  return fine.length <= most ? fine : inside(powers);
}

export const ratioTick = (ratio: number): string => `${Number(ratio.toPrecision(2))}×`;

/** GFLOP/s with three digits: `0.31`, `10.4`, `104`. */
export const rateText = (gflops: number): string =>
  gflops >= 100 ? gflops.toFixed(0) : gflops >= 10 ? gflops.toFixed(1) : gflops.toPrecision(2);

/** Rate in GFLOP/s of operations in seconds. */
export const rateOf = (flops: number, seconds: number): number => flops / seconds / 1e9;

export const COLOURS = {
  tuned: 'var(--tuned)',
  plain: 'var(--plain)',
  packed: 'var(--packed)',
  openblas: 'var(--openblas)',
  mkl: 'var(--mkl)',
  worse: 'var(--worse)',
  ink: 'var(--ink)',
  muted: 'var(--muted)',
  grid: 'var(--grid)',
  paper: 'var(--paper)',
} as const;

/** A text for a chart. A long text loses its middle. */
export const clipped = (text: string, longest: number): string =>
  text.length <= longest
    ? text
    : `${text.slice(0, Math.ceil(longest * 0.6))}…${text.slice(-Math.floor(longest * 0.3))}`;
