// Slices of a tensor, and sums over them. Pure.
import type { ResultType } from '../input/runtime-type.ts';
import { elementsOf } from '../workload/tensor.ts';
import { sumOf } from './statistics.ts';

/** Smallest slice whose size says something about an element. */
export const LEAST_SLICE = 16;

/** Equal slices of a tensor: those at each index of one axis. */
export interface Axis {
  readonly size: number;
  readonly stride: number;
}

/** The shape of a result with this many elements. A shape with several dynamic sizes is not known. */
function shapeOf(shape: ResultType['shape'], length: number): readonly number[] {
  if (shape === null) return [length];
  const known = elementsOf(shape.filter((size) => size >= 0));
  const whole = shape.map((size) => (size >= 0 ? size : length / Math.max(1, known)));
  return elementsOf(whole) === length ? whole : [length];
}

/** Axes of a result of `total` elements whose slices are large enough, and smaller than the whole. */
export function axesOf(given: ResultType['shape'], total: number): Axis[] {
  const shape = shapeOf(given, total);
  const axes: Axis[] = [];
  let stride = total;
  for (const size of shape) {
    stride /= size;
    if (size > 1 && total / size >= LEAST_SLICE) axes.push({ size, stride });
  }
  return axes;
}

/** Two sums over one class of elements: of the whole, then of each slice of each axis. */
export class Sums {
  readonly first: Float64Array;
  readonly second: Float64Array;
  /** Sums of the present run. */
  #first = 0;
  #second = 0;

  /** @param slices number of slices, with the whole */
  constructor(slices: number) {
    this.first = new Float64Array(slices);
    this.second = new Float64Array(slices);
  }

  /** @param inner the slice of the last axis that the element belongs to; -1 if that is the same for the whole run */
  add(inner: number, first: number, second: number): void {
    this.#first += first;
    this.#second += second;
    if (inner < 0) return;
    this.first[inner]! += first;
    this.second[inner]! += second;
  }

  /** Adds the sums of a run to the slices that all of it belongs to. */
  endRun(slices: Int32Array): void {
    if (this.#first === 0 && this.#second === 0) return;
    for (let k = 0; k < slices.length; k++) {
      this.first[slices[k]!]! += this.#first;
      this.second[slices[k]!]! += this.#second;
    }
    this.#first = 0;
    this.#second = 0;
  }
}

/** Number of slices, with the whole. */
export const slicesOf = (axes: readonly Axis[]) => 1 + sumOf(axes.map(({ size }) => size));

/**
 * Walks over the elements in runs of neighbours that belong to the same slices of all axes but the last. It begins before the first run.
 * Sums of a run are added to its slices at once: one addition for each element and axis would take most of a comparison.
 */
export class Run {
  /** Its first element, and the one after its last. */
  start = 0;
  end = 0;
  /** The slices of the whole run: slice 0, the whole, and one along each axis but the last if that changes within the run. */
  readonly slices: Int32Array;
  readonly #axes: readonly Axis[];
  readonly #total: number;
  readonly #length: number;
  /** First slice of the last axis, if it changes within a run; else -1. */
  readonly #inner: number;
  /** First slice of each axis. */
  readonly #first: readonly number[];

  /** @param total number of elements */
  constructor(axes: readonly Axis[], total: number) {
    const last = axes.at(-1);
    const isInner = last?.stride === 1;
    this.#axes = isInner ? axes.slice(0, -1) : axes;
    this.#total = total;
    this.#length = last === undefined ? total : isInner ? last.size : last.stride;
    this.#first = axes.map((_, i) => slicesOf(axes.slice(0, i)));
    this.#inner = isInner ? this.#first.at(-1)! : -1;
    this.slices = new Int32Array(1 + this.#axes.length);
  }

  /** The slice of the last axis that an element of the run belongs to; -1 if that is among `slices`. */
  innerAt(i: number): number {
    return this.#inner < 0 ? -1 : this.#inner + i - this.start;
  }

  /** @returns whether there is a next run */
  next(): boolean {
    this.start = this.end;
    this.end += this.#length;
    for (const [axis, { size, stride }] of this.#axes.entries())
      this.slices[1 + axis] = this.#first[axis]! + (Math.floor(this.start / stride) % size);
    return this.start < this.#total;
  }
}
