// How far one result of a function is from another, and whether honest builds of the function are as far from each other. Pure.
import type { ResultType } from '../input/runtime-type.ts';
import { isFloat } from '../workload/element-type.ts';
import { SPACING, type Elements } from './elements.ts';
import { isQuantized } from './quantized.ts';
import { axesOf, LEAST_SLICE, Run, slicesOf, Sums, type Axis } from './slices.ts';

/**
 * Errors of a result. An element's error is relative to its own size plus the size of its neighbours: the least root mean square of the
 * slices of the tensor that the element belongs to. Errors of integers are absolute.
 */
export interface Deviation {
  /** Largest error of an element, and its index; Infinity for a NaN, or for an infinity that only one of both results has. */
  readonly worst: number;
  readonly at: number;
  /** Number of elements with an error of more than `2 ** (FIRST + i)`. */
  readonly beyond: readonly number[];
  /** Error of the whole as a share of its size, by L2 norms; then the largest such error of a slice along each axis. */
  readonly norms: readonly number[];
  /** The same for the part of the error that scales the result. An element-wise error of the last bits hardly has such a part. */
  readonly tilts: readonly number[];
}

/** Exponents of the thresholds of `beyond`. */
const FIRST = -60;
const LAST = 70;

/**
 * Values that differ by this many binary orders of magnitude, with none between them, belong to different classes: masks such as -1e9, and
 * the values beside them. Each class is compared by its own size.
 */
const GAP = 8;

/** Share of the elements below which a class of small values belongs to the next larger class. */
const LEAST_CLASS = 1 / 64;

/** The size of each element of stock's result, by which errors are judged. */
export class Scale {
  /** Whether stock's result is of 8 bits, as floats. */
  readonly isQuantized: boolean;
  readonly #base: Elements;
  readonly #isInteger: boolean;
  readonly #axes: readonly Axis[];
  readonly #classes: Uint8Array;
  readonly #sums: readonly Sums[];
  /** Size of each element; 0 if all elements are 0. */
  readonly #sizes: Float32Array;

  /** @param base elements of stock's result */
  constructor(base: Elements, { elementType, shape }: ResultType) {
    this.#base = base;
    this.#isInteger = !isFloat(elementType);
    this.isQuantized = !this.#isInteger && isQuantized(base);
    this.#axes = this.#isInteger ? [] : axesOf(shape, base.length);
    const { classes, count } = this.#isInteger
      ? { classes: new Uint8Array(base.length), count: 1 }
      : classesOf(base);
    this.#classes = classes;
    this.#sums = Array.from({ length: count }, () => new Sums(slicesOf(this.#axes)));
    this.#sizes = new Float32Array(base.length);
    if (this.#isInteger) return;
    for (const run = new Run(this.#axes, base.length); run.next();) {
      for (let i = run.start; i < run.end; i++) {
        const value = Number(base[i]);
        if (Number.isFinite(value)) this.#sums[classes[i]!]!.add(run.innerAt(i), 1, value * value);
      }
      for (const sums of this.#sums) sums.endRun(run.slices);
    }
    const means = this.#sums.map(({ first: counts, second: squares }) =>
      squares.map((one, slice) =>
        one > 0 && (slice === 0 || counts[slice]! >= LEAST_SLICE) ? one / counts[slice]! : Infinity,
      ),
    );
    const least = new Float64Array(count);
    for (const run = new Run(this.#axes, base.length); run.next();) {
      for (const [one, own] of means.entries()) {
        least[one] = Infinity;
        for (let k = 0; k < run.slices.length; k++) least[one] = Math.min(least[one], own[run.slices[k]!]!);
      }
      for (let i = run.start; i < run.end; i++) {
        const [own, inner] = [classes[i]!, run.innerAt(i)];
        const mean = inner < 0 ? least[own]! : Math.min(least[own]!, means[own]![inner]!);
        this.#sizes[i] = (mean === Infinity ? 0 : Math.sqrt(mean)) + Math.abs(Number(base[i]));
      }
    }
  }

  get length(): number {
    return this.#base.length;
  }

  /** Deviation of one result from another, one for each class of elements. The results must have the length of stock's result. */
  between(one: Elements, other: Elements): Deviation[] {
    const found = this.#sums.map(() => ({
      worst: 0,
      at: 0,
      beyond: Array.from({ length: LAST - FIRST + 1 }, () => 0),
      sums: new Sums(slicesOf(this.#axes)),
    }));
    for (const run = new Run(this.#axes, this.#base.length); run.next();) {
      for (let i = run.start; i < run.end; i++) {
        const a = Number(one[i]);
        const b = Number(other[i]);
        if (a === b || (Number.isNaN(a) && Number.isNaN(b))) continue;
        const own = found[this.#classes[i]!]!;
        const error = b - a;
        const size = this.#isInteger ? 1 : this.#sizes[i]!;
        const relative = Number.isFinite(error) && size > 0 ? Math.abs(error) / size : Infinity;
        if (relative > own.worst) Object.assign(own, { worst: relative, at: i });
        const order = relative === Infinity ? LAST : orderOf(relative);
        own.beyond[Math.max(0, Math.min(LAST, order) - FIRST)]!++;
        own.sums.add(run.innerAt(i), error * error, error * Number(this.#base[i]));
      }
      for (const { sums } of found) sums.endRun(run.slices);
    }
    return found.map(({ worst, at, beyond, sums: { first: errors, second: products } }, i) => {
      // An element beyond a threshold is beyond the smaller thresholds, too.
      for (let k = beyond.length - 2; k >= 0; k--) beyond[k]! += beyond[k + 1]!;
      const { first: count, second: squares } = this.#sums[i]!;
      const norm = (slice: number) =>
        this.#isInteger
          ? Math.sqrt(errors[slice]! / Math.max(1, this.#base.length))
          : Math.sqrt(errors[slice]! / squares[slice]!);
      const tilt = (slice: number) => (this.#isInteger ? 0 : Math.abs(products[slice]!) / squares[slice]!);
      const largest = (of: (slice: number) => number) => [
        finite(of(0)),
        ...this.#ranges().map(([first, last]) => {
          let most = 0;
          for (let slice = first; slice < last; slice++)
            if (count[slice]! >= LEAST_SLICE) most = Math.max(most, finite(of(slice)));
          return most;
        }),
      ];
      return { worst, at, beyond, norms: largest(norm), tilts: largest(tilt) };
    });
  }

  /** Part of the deviation of half of each float: the whole and its scale. It takes no look at the elements. */
  get halves(): Deviation[] {
    return this.#sums.map(({ second: squares }) => {
      const half = squares[0]! > 0 ? [1 / 2] : [0];
      return { worst: 0, at: 0, beyond: [], norms: half, tilts: half };
    });
  }

  /** First and last slice of each axis. Slice 0 is the whole. */
  #ranges(): [first: number, last: number][] {
    let first = 1;
    return this.#axes.map(({ size }) => [first, (first += size)]);
  }
}

/** A slice of zeros has no relative error. Its elements are judged by other slices. */
const finite = (ratio: number) => (Number.isNaN(ratio) || ratio === Infinity ? 0 : ratio);

const NUMBER = new Float64Array(1);
const HALVES = new Uint32Array(NUMBER.buffer);
/** Index of the half with the exponent: it depends on the byte order. */
const UPPER = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1 ? 1 : 0;

/** Binary order of magnitude of a number that is not 0. Logarithms would take most of a comparison. */
function orderOf(value: number): number {
  NUMBER[0] = value;
  return ((HALVES[UPPER]! >>> 20) & 0x7ff) - 1023;
}

/** Exponents of f64 numbers. */
const LEAST_ORDER = -1075;
const ORDERS = 2100;

/** Classes of elements, the largest values first. Zeros and numbers that are not finite belong to the most frequent class. */
function classesOf(elements: Elements): { readonly classes: Uint8Array; readonly count: number } {
  const counts = new Float64Array(ORDERS);
  let total = 0;
  for (let i = 0; i < elements.length; i++) {
    const value = Number(elements[i]);
    if (value === 0 || !Number.isFinite(value)) continue;
    counts[orderOf(value) - LEAST_ORDER]!++;
    total++;
  }
  const classOf = new Uint8Array(ORDERS);
  const members = [0];
  let empty = 0;
  for (let order = ORDERS - 1; order >= 0; order--) {
    const below = () => counts.subarray(0, order + 1).reduce((sum, one) => sum + one, 0);
    if (counts[order] === 0) empty++;
    else {
      const isNew = members[0]! > 0 && empty >= GAP && members.length < 255 && below() >= LEAST_CLASS * total;
      if (isNew) members.push(0);
      members[members.length - 1]! += counts[order]!;
      empty = 0;
    }
    classOf[order] = members.length - 1;
  }
  const usual = members.indexOf(Math.max(...members));
  const classes = new Uint8Array(elements.length).fill(usual);
  if (members.length > 1)
    for (let i = 0; i < elements.length; i++) {
      const value = Number(elements[i]);
      if (value !== 0 && Number.isFinite(value)) classes[i] = classOf[orderOf(value) - LEAST_ORDER]!;
    }
  return { classes, count: members.length };
}

/**
 * Deviations that prove nothing, even if no honest build deviates: some units in the last place of the type that the arithmetic rounds to.
 * The rounding of a narrow result hides the errors of arithmetic in f32, so one unit is enough there.
 */
function floorOf(elementType: string): number {
  if (!isFloat(elementType)) return 0;
  const spacing = SPACING[elementType] ?? 0;
  return elementType === 'f64' ? 8 * spacing : Math.max(8 * SPACING['f32']!, spacing);
}

/** Shares of the floor for norms, and for the scaling of a result: rounding errors in both directions cancel out. */
const NORM_OF_FLOOR = 1 / 2;
const TILT_OF_FLOOR = 1 / 4;

/** A result may deviate this many times as far as honest builds do, and more with few elements, which say less about the largest deviation. */
const TIMES = 4;
const TIMES_TILT = 8;

/**
 * A result that honest builds move by more than this share of its size is judged more strictly, and most strictly if it is quantized: a
 * wrong channel of a quantized network moves it only twice as far.
 */
const NOISY = 0.01;
const [TIMES_IF_NOISY, TIMES_IF_QUANTIZED] = [2, 1.5];

/**
 * This many times as many elements may be beyond a threshold as those of honest builds beyond a quarter of it, as each element may be `TIMES` as
 * far off. And some more, because few elements are far off by chance.
 */
const TIMES_BEYOND = 8;
const ORDERS_BEYOND = Math.log2(TIMES);
const MORE_BEYOND = 4;

/**
 * Share of the 8-bit integers that floats are rounded to which another order of a sum may move by one. References seldom move these few elements:
 * of 128 steps, a rounding error of a millionth passes the middle of a step for about one element in 10,000.
 */
const SHARE_OF_TIES = 2 ** -12;
const ROUNDED = /^[su]?i8$/;

/** The part of a result that deviates most, by what honest builds do. */
export interface Furthest {
  readonly what:
    | 'element'
    | 'the whole'
    | 'a slice'
    | 'the scale of the whole'
    | 'the scale of a slice'
    | 'a share of the elements';
  /** How many times the allowed deviation it is. Above 1, it is an error. */
  readonly times: number;
  /** Index of the element that is furthest off. */
  readonly at: number;
  /** Its deviation, and the largest one of honest builds. */
  readonly by: number;
  readonly honest: number;
}

/**
 * The part of a result that is furthest from stock's, compared with how far honest builds are from each other; null for equal results.
 * @param tuned deviation of the result from stock's, by class
 * @param honest deviations of honest builds from each other, by class. Those with another number of classes are of other results
 * @param mayRound whether integers may be rounded floats, because the function has floats among its arguments
 */
export function furthest(
  { elementType }: ResultType,
  { length, isQuantized }: Scale,
  tuned: readonly Deviation[],
  honest: readonly (readonly Deviation[])[],
  mayRound = false,
): Furthest | null {
  const floor = floorOf(elementType);
  /** Integers that may be one more or less. */
  const ties = mayRound && ROUNDED.test(elementType) ? MORE_BEYOND + SHARE_OF_TIES * length : 0;
  const alike = honest.filter((one) => one.length === tuned.length);
  const few = 1 + 4 / Math.sqrt(Math.max(1, length));
  const timesIfNoisy = isQuantized ? TIMES_IF_QUANTIZED : TIMES_IF_NOISY;
  let most: Furthest | null = null;
  for (const [i, own] of tuned.entries()) {
    const note = (what: Furthest['what'], by: number, allowed: number, honest: number) => {
      const times = by === 0 ? 0 : by / allowed;
      if (times > (most?.times ?? 0)) most = { what, times, at: own.at, by, honest };
    };
    const largest = (of: (one: Deviation) => number) => Math.max(0, ...alike.map((one) => of(one[i]!)));
    const worst = largest((one) => one.worst);
    note('element', own.worst, Math.max(floor, Math.sign(ties), few * TIMES * worst), worst);
    for (const [k, norm] of own.norms.entries()) {
      const usual = largest(({ norms }) => norms[k]!);
      note(
        k === 0 ? 'the whole' : 'a slice',
        norm,
        Math.max(
          NORM_OF_FLOOR * floor,
          Math.sqrt(ties / length),
          // Grows without a jump where results become noisy.
          few * Math.max(timesIfNoisy * usual, Math.min(TIMES * usual, timesIfNoisy * NOISY)),
        ),
        usual,
      );
    }
    for (const [k, tilt] of own.tilts.entries()) {
      const usual = largest(({ tilts }) => tilts[k]!);
      const allowed = Math.max(TILT_OF_FLOOR * floor, few * TIMES_TILT * usual);
      note(k === 0 ? 'the scale of the whole' : 'the scale of a slice', tilt, allowed, usual);
    }
    for (const [k, count] of own.beyond.entries()) {
      if (2 ** (FIRST + k) < floor) continue;
      const usual = largest(({ beyond }) => beyond[Math.max(0, k - ORDERS_BEYOND)]!);
      const allowed = usual === 0 && floor === 0 ? ties : Math.max(ties, TIMES_BEYOND * usual + MORE_BEYOND);
      note('a share of the elements', count / length, allowed / length, usual / length);
    }
  }
  return most;
}
