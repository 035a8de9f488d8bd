// Compares the outputs of two functions of one module, so that what is verified is what was timed.
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { deviceFlags } from '../target/device.ts';
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

/** Output of one function without arguments, as raw bytes; null when it could not be run. */
export async function runFunction(
  toolchain: Toolchain,
  module: string,
  name: string,
  timeoutSeconds: number,
): Promise<Uint8Array | null> {
  const file = join(toolchain.workDirectory, `${name}.bin`);
  const result = await runTool(
    toolchain.runModule,
    [`--module=${module}`, ...deviceFlags(toolchain.device), `--function=${name}`, `--output=@${file}`],
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
 * @param truth the exact output in f32, or null. What was expected may itself have been rounded at every step: an output
 * is also right when none of its elements is further from the truth than the worst that was expected.
 */
export function compareOutputs(
  expected: Uint8Array,
  actual: Uint8Array,
  elementType: string,
  truth: Uint8Array | null = null,
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
  const { absolute, relative } = tolerance(elementType);
  const allowed = (value: number) => absolute + relative * Math.abs(value);
  const maxError = largestError(want, got);
  let reason = firstBeyond(want, got, allowed);
  const exact = reason === null || truth === null ? null : decodeElements(truth, 'f32');
  if (exact?.length === want.length) {
    const expectedError = largestError(exact, want);
    // What is not a number, or has overflowed, does not tell how far is too far.
    if (Number.isFinite(expectedError))
      reason = firstBeyond(exact, got, (value) => Math.max(expectedError, allowed(value)));
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
    // Written so that a NaN on one side fails.
    if (!isSame(a, b) && !(Math.abs(a - b) <= allowed(a))) return `element ${i} is ${b} instead of ${a}`;
  }
  return null;
}
