// Runs functions, and compares their outputs within tolerances.
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { deviceFlags, meterOf } from '../backend/index.ts';
import { elementBits, isFloat, isInteger } from '../workload/element-type.ts';
import type { OperationWork } from '../workload/workload.ts';
import { decodeElements, SPACING, type Elements } from './elements.ts';
import { runTool, type Toolchain, type ToolResult } from './toolchain.ts';

/** Verdict on a candidate's results. `maxError` is the largest absolute difference of an element from the default's. */
export type Verification =
  | { readonly outcome: 'right'; readonly maxError: number }
  | { readonly outcome: 'wrong-result' | 'run-error'; readonly reason: string };

/** The largest allowed errors of an element of an output. */
interface Allowance {
  /** Largest difference from the expected value: the default's result. */
  readonly fromExpected: (value: number) => number;
  /** Largest difference from the true value. The expected value is at most `expectedError` away from the true one. */
  readonly fromTruth: (value: number, expectedError: number) => number;
}

/** Allowed error of an element of a whole dispatch's output, as a share of the largest element. */
const ERROR_OF_LARGEST: Readonly<Record<string, number>> = {
  ...{ f64: 1e-10, f32: 1e-4, f16: 1e-2, bf16: 3e-2 },
};

/**
 * Allowance for sums of products of small integers, which are exact in f32. Rounding the result to its type moves it by at most the
 * distance of two neighbours. A kernel that omits a product is further off. A default with narrow accumulators rounds at every step, so
 * the truth decides there.
 */
export function exactAllowance(elementType: string): Allowance {
  const fromExpected = (value: number) => (SPACING[elementType] ?? 0) * Math.abs(value);
  return {
    fromExpected,
    fromTruth: (value, expectedError) => Math.max(expectedError, fromExpected(value)),
  };
}

/**
 * Allowance for the output of a whole dispatch. Its other operations amplify or cancel the rounding of its sums. A kernel that computes
 * in fewer bits is further off.
 */
export function dispatchAllowance(expected: Uint8Array, elementType: string): Allowance {
  const allowed = (ERROR_OF_LARGEST[elementType] ?? 0) * largestOf(expected, elementType);
  return { fromExpected: () => allowed, fromTruth: () => allowed };
}

/** Largest absolute value of the finite elements. */
function largestOf(bytes: Uint8Array, elementType: string): number {
  const elements = decodeElements(bytes, elementType) ?? [];
  let largest = 0;
  for (let i = 0; i < elements.length; i++) {
    const size = Math.abs(Number(elements[i]));
    if (Number.isFinite(size) && size > largest) largest = size;
  }
  return largest;
}

/**
 * The allowed error of a sum, in units of k times the roundoff. A sum of k random products between -1 and 1 grows like the
 * square root of k. Rounding at every step gives it a standard deviation of k times the roundoff, divided by 10, so less than
 * one of 10^10 elements exceeds the limit. A kernel that converts f32 to bf16 has errors of 4e-4 times the square root of k:
 * 9 times the limit at k = 2^16, and more for a smaller k.
 */
const ROUNDINGS = 3;

/** Allowed error in units of the default's error. Some kernels sum up to 64 products before they round to a narrow type. */
const LESS_EXACT = 8;

/** Whether results of full values can be compared. Floats summed as integers cannot: all fractions are 0. */
export function canCompareFull({ lhs, rhs, accumulator }: OperationWork): boolean {
  return isFloat(accumulator.elementType)
    ? accumulator.elementType in SPACING
    : [lhs, rhs].every(({ elementType }) => isInteger(elementType));
}

const largestFull = ({ elementType }: OperationWork['lhs']) =>
  isFloat(elementType) ? 1 : 2 ** (elementBits(elementType) - 1);

/**
 * The allowed errors of results of full values. Sums of integers wrap and are exact in any order.
 * @param workload with static sizes
 * @param hasTruth whether results are also compared with true values
 */
export function fullAllowance(
  { dimensions, lhs, rhs, accumulator }: OperationWork,
  hasTruth: boolean,
): Allowance {
  const products = dimensions.reduce((count, { kind, size }) => (kind === 'k' ? count * size : count), 1);
  const roundoff = ((SPACING[accumulator.elementType] ?? 0) / 2) * largestFull(lhs) * largestFull(rhs);
  const everyStep = ROUNDINGS * products * roundoff;
  const once = Math.sqrt(products) * roundoff;
  return {
    fromExpected: () => (hasTruth ? once : everyStep),
    fromTruth: (_, expectedError) => Math.min(everyStep, LESS_EXACT * Math.max(expectedError, once)),
  };
}

/** One call of a function by `iree-run-module`. */
interface Call {
  readonly name: string;
  /** Values of `--input=`. */
  readonly inputs: readonly string[];
  /** Paths of the raw files to write, one for each result. */
  readonly outputs: readonly string[];
  /** More flags of the tool. */
  readonly flags?: readonly string[];
}

/**
 * @param modules in loading order; the last module has the function
 * @throws StoppedError when the signal fires
 */
export const callFunction = (
  { runModule, device, signal }: Pick<Toolchain, 'runModule' | 'device' | 'signal'>,
  modules: readonly string[],
  { name, inputs, outputs, flags = [] }: Call,
  timeoutSeconds: number,
): Promise<ToolResult> =>
  runTool(
    runModule,
    [
      ...modules.map((module) => `--module=${module}`),
      `--function=${name}`,
      ...inputs.map((input) => `--input=${input}`),
      ...outputs.map((file) => `--output=@${file}`),
      ...deviceFlags(device),
      ...flags,
    ],
    timeoutSeconds,
    signal,
  );

/** Numbers the output files, because one function may run several times at once. */
let runs = 0;

/**
 * Outputs of several functions without arguments, or with one for memory to write to, as raw bytes; null when a run fails.
 * @param modules in loading order; the last module has the functions
 * @param inputsOf values of `--input=` of the function with this index
 * @throws StoppedError when the toolchain's signal fires
 */
export async function outputsOf(
  toolchain: Toolchain,
  modules: readonly string[],
  names: readonly string[],
  timeoutSeconds: number,
  inputsOf: (index: number) => readonly string[] = () => [],
): Promise<Uint8Array[] | null> {
  const flags = meterOf(toolchain.device).fillingFlags;
  const all: Uint8Array[] = [];
  for (const [i, name] of names.entries()) {
    const file = join(toolchain.workDirectory, `${name}-${runs++}.bin`);
    const call = { name, inputs: inputsOf(i), outputs: [file], flags };
    const { ok } = await callFunction(toolchain, modules, call, timeoutSeconds);
    const output = ok ? await readFile(file).catch(() => null) : null;
    await rm(file, { force: true });
    if (output === null) return null;
    all.push(output);
  }
  return all;
}

/**
 * Compares two outputs element by element. NaN equals NaN, because both functions have the same operands.
 * @param truth the exact output in f32, or null. The expected output may be rounded itself, so an output within the allowance of the
 * truth is equal too.
 */
export function compareOutputs(
  expected: Uint8Array,
  actual: Uint8Array,
  elementType: string,
  { fromExpected, fromTruth }: Allowance,
  truth: Uint8Array | null = null,
): Verification {
  if (expected.length !== actual.length) return wrong(`${actual.length} bytes instead of ${expected.length}`);
  if (Buffer.compare(expected, actual) === 0) return { outcome: 'right', maxError: 0 };
  const [want, got] = [decodeElements(expected, elementType), decodeElements(actual, elementType)];
  if (want === null || got === null) return wrong(`outputs of type ${elementType} differ`);
  let reason = firstBeyond(want, got, fromExpected);
  const exact = reason === null || truth === null ? null : decodeElements(truth, 'f32');
  if (exact?.length === want.length) {
    const expectedError = largestError(exact, want);
    // A NaN or an overflow bounds nothing.
    if (Number.isFinite(expectedError))
      reason = firstBeyond(exact, got, (value) => fromTruth(value, expectedError));
  }
  return reason === null ? { outcome: 'right', maxError: largestError(want, got) } : wrong(reason);
}

const wrong = (reason: string): Verification => ({ outcome: 'wrong-result', reason });

const isSame = (a: number, b: number) => a === b || (Number.isNaN(a) && Number.isNaN(b));

/** Largest absolute difference of two elements; Infinity if only one of both is a NaN. */
export function largestError(want: Elements, got: Elements): number {
  let largest = 0;
  for (let i = 0; i < want.length; i++) {
    const [a, b] = [Number(want[i]), Number(got[i])];
    if (isSame(a, b)) continue;
    const error = Math.abs(a - b);
    largest = Math.max(largest, Number.isNaN(error) ? Infinity : error);
  }
  return largest;
}

/** Describes the first element that differs by more than the allowance of its expected value; null if there is none. */
function firstBeyond(want: Elements, got: Elements, allowed: (value: number) => number): string | null {
  for (let i = 0; i < want.length; i++) {
    const [a, b] = [Number(want[i]), Number(got[i])];
    if (isSame(a, b)) continue;
    const error = Math.abs(a - b);
    // An infinite or NaN element equals only itself.
    if (!Number.isFinite(error) || !(error <= allowed(a))) return `element ${i} is ${b} instead of ${a}`;
  }
  return null;
}
