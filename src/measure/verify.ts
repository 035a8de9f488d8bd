// Compares the outputs of two functions of one module: the code that is verified is the code that was timed.
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { deviceFlags, meterOf } from '../backend/index.ts';
import type { Allowance } from '../workload/kind.ts';
import { decodeElements, type Elements } from './elements.ts';
import { runTool, type Toolchain } from './toolchain.ts';

export interface Comparison {
  readonly equal: boolean;
  /** Largest absolute difference of two elements; Infinity when the outputs cannot be compared. */
  readonly maxError: number;
  readonly reason: string | null;
}

/** Tolerances of iree-run-module's own `--expected_output`. Narrow accumulators round at every step, so they get more. */
function tolerance(elementType: string): { absolute: number; relative: number } {
  if (elementType === 'f32') return { absolute: 1e-4, relative: 1e-5 };
  if (elementType === 'f64') return { absolute: 1e-8, relative: 1e-12 };
  if (elementType === 'f16') return { absolute: 1e-2, relative: 4e-3 };
  if (elementType === 'bf16') return { absolute: 1e-1, relative: 3e-2 };
  return { absolute: 0, relative: 0 };
}

const allowanceOf = (fromExpected: Allowance['fromExpected']): Allowance => ({
  fromExpected,
  fromTruth: (value, expectedError) => Math.max(expectedError, fromExpected(value)),
});

/** For results of which nothing more is known. */
function usualAllowance(elementType: string): Allowance {
  const { absolute, relative } = tolerance(elementType);
  return allowanceOf((value) => absolute + relative * Math.abs(value));
}

/** Distance of two neighbouring numbers of a type, relative to them. */
const SPACING: Readonly<Record<string, number>> = {
  f64: 2 ** -52,
  f32: 2 ** -23,
  f16: 2 ** -10,
  bf16: 2 ** -7,
};

/**
 * For sums of products of small integers, which are exact in f32. A result that is rounded to its type at the end is off by at most
 * the distance of two numbers; a kernel that leaves a product out is off by more. A default with narrow accumulators rounds at every
 * step: then the truth decides.
 */
export function exactAllowance(elementType: string): Allowance {
  const spacing = SPACING[elementType] ?? 0;
  return allowanceOf((value) => spacing * Math.abs(value));
}

/** Share of the largest element that another may differ by where more than sums was rounded, by element type. */
const SHARE_OF_LARGEST: Readonly<Record<string, number>> = { f64: 1e-10, f32: 1e-4, f16: 1e-2, bf16: 3e-2 };

/**
 * For outputs of which more is known than that their sums may come in another order: what stands before and after them
 * takes rounding on, and may cancel it or not. A kernel that computes in fewer bits is off by more.
 */
export function dispatchAllowance(expected: Uint8Array, elementType: string): Allowance {
  const { absolute } = tolerance(elementType);
  const share = absolute === 0 ? 0 : (SHARE_OF_LARGEST[elementType] ?? 0);
  const allowed = share * largestOf(expected, elementType).finite;
  return { fromExpected: () => allowed, fromTruth: () => allowed };
}

/**
 * For a result of a whole program: an element may be what is left of larger ones that cancel each other, so it is the
 * largest that says how far rounding may lead; null where the result is not finite, which tells nothing.
 * @param roundsTo element types that values are rounded to on the way; the one that rounds most decides
 */
export function programAllowance(
  expected: Uint8Array,
  elementType: string,
  roundsTo: readonly string[],
): Allowance | null {
  const { finite: largest, isAllFinite } = largestOf(expected, elementType);
  if (!isAllFinite) return null;
  // Integers are exact, also if they are made from floats.
  const types = tolerance(elementType).relative === 0 ? [elementType] : [elementType, ...roundsTo];
  const all = types.map(tolerance);
  const absolute = Math.max(...all.map((one) => one.absolute));
  const relative = Math.max(...all.map((one) => one.relative));
  const allowed = () => absolute + relative * largest;
  return { fromExpected: allowed, fromTruth: allowed };
}

/** The largest size of the elements that are finite, and whether all are. */
function largestOf(bytes: Uint8Array, elementType: string): { finite: number; isAllFinite: boolean } {
  const elements = decodeElements(bytes, elementType) ?? [];
  let finite = 0;
  let isAllFinite = true;
  for (let i = 0; i < elements.length; i++) {
    const size = Math.abs(Number(elements[i]));
    if (!Number.isFinite(size)) isAllFinite = false;
    else if (size > finite) finite = size;
  }
  return { finite, isAllFinite };
}

/** So that one function can be run several times at once. */
let runs = 0;

/**
 * Output of one function, as raw bytes; null when it could not be run.
 * @param modules are loaded in their order; the last one has the function
 * @param inputs values of `--input=`
 */
export async function runFunction(
  toolchain: Toolchain,
  modules: readonly string[],
  name: string,
  timeoutSeconds: number,
  inputs: readonly string[] = [],
): Promise<Uint8Array | null> {
  const file = join(toolchain.workDirectory, `${name}-${runs++}.bin`);
  const result = await runTool(
    toolchain.runModule,
    [
      ...modules.map((module) => `--module=${module}`),
      ...deviceFlags(toolchain.device),
      ...meterOf(toolchain.device).fillingFlags,
      `--function=${name}`,
      ...inputs.map((input) => `--input=${input}`),
      `--output=@${file}`,
    ],
    timeoutSeconds,
    toolchain.signal,
  );
  try {
    return result.ok ? await readFile(file) : null;
  } catch {
    return null;
  } finally {
    await rm(file, { force: true });
  }
}

/**
 * Compares two outputs element by element. NaN equals NaN: both sides saw the same operands.
 * @param truth the exact output in f32, or null. What was expected may itself have been rounded: an output is also right
 * when none of its elements is further from the truth than is allowed.
 */
export function compareOutputs(
  expected: Uint8Array,
  actual: Uint8Array,
  elementType: string,
  truth: Uint8Array | null = null,
  { fromExpected, fromTruth }: Allowance = usualAllowance(elementType),
): Comparison {
  if (expected.length !== actual.length)
    return {
      equal: false,
      maxError: Infinity,
      reason: `${actual.length} bytes instead of ${expected.length}`,
    };
  if (Buffer.compare(expected, actual) === 0) return { equal: true, maxError: 0, reason: null };
  const [want, got] = [decodeElements(expected, elementType), decodeElements(actual, elementType)];
  if (want === null || got === null)
    return { equal: false, maxError: Infinity, reason: `outputs of type ${elementType} differ` };
  const maxError = largestError(want, got);
  let reason = firstBeyond(want, got, fromExpected);
  const exact = reason === null || truth === null ? null : decodeElements(truth, 'f32');
  if (exact?.length === want.length) {
    const expectedError = largestError(exact, want);
    // A NaN or an overflow gives no bound.
    if (Number.isFinite(expectedError))
      reason = firstBeyond(exact, got, (value) => fromTruth(value, expectedError));
  }
  return { equal: reason === null, maxError, reason };
}

const isSame = (a: number, b: number) => a === b || (Number.isNaN(a) && Number.isNaN(b));

/** Largest absolute difference of two elements; Infinity when one of them is NaN. */
function largestError(want: Elements, got: Elements): number {
  let largest = 0;
  for (let i = 0; i < want.length; i++) {
    const [a, b] = [Number(want[i]), Number(got[i])];
    if (isSame(a, b)) continue;
    const error = Math.abs(a - b);
    largest = Math.max(largest, Number.isNaN(error) ? Infinity : error);
  }
  return largest;
}

/** Names the first element that differs by more than is allowed for its wanted value; null when there is none. */
function firstBeyond(want: Elements, got: Elements, allowed: (value: number) => number): string | null {
  for (let i = 0; i < want.length; i++) {
    const [a, b] = [Number(want[i]), Number(got[i])];
    if (isSame(a, b)) continue;
    const error = Math.abs(a - b);
    // An infinite or NaN element equals nothing but itself, however much is allowed.
    if (!Number.isFinite(error) || !(error <= allowed(a))) return `element ${i} is ${b} instead of ${a}`;
  }
  return null;
}
