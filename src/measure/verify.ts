// Compares the outputs of two functions of one module, so that what is verified is what was timed.
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { deviceFlags } from '../target/device.ts';
import { decodeElements } from './elements.ts';
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

/** Compares two outputs element by element. NaN equals NaN: both sides saw the same operands. */
export function compareOutputs(expected: Uint8Array, actual: Uint8Array, elementType: string): Comparison {
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
  let maxError = 0;
  let reason: string | null = null;
  for (let i = 0; i < want.length; i++) {
    const [a, b] = [Number(want[i]), Number(got[i])];
    if (a === b || (Number.isNaN(a) && Number.isNaN(b))) continue;
    const error = Math.abs(a - b);
    maxError = Math.max(maxError, Number.isNaN(error) ? Infinity : error);
    // Written so that a NaN on one side fails.
    if (reason === null && !(error <= absolute + relative * Math.abs(a)))
      reason = `element ${i} is ${b} instead of ${a}`;
  }
  return { equal: reason === null, maxError, reason };
}
