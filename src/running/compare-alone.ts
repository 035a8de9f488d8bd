// Compares functions of two modules with each other, each alone and on random inputs of its own.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { ProgramFunction } from '../input/signature.ts';
import { writeInputs } from '../program/inputs.ts';
import { comparisonWith, type Compared } from '../program/results.ts';
import type { StockContest } from '../program/verify.ts';
import { Semaphore } from '../system/semaphore.ts';

/** Seconds of one call. Untuned code may be scalar. */
const CALL_SECONDS = 20;

/** Runs at once. They are not timed. */
const AT_ONCE = 2;

/**
 * @param stock the module to compare with, its tools and device, and a folder for results
 * @param tuned path of the other module
 * @returns the comparisons in the order of the functions
 * @throws StoppedError when the signal fires
 */
export function compareAlone(
  stock: Omit<StockContest, 'function' | 'inputs'>,
  tuned: string,
  functions: readonly Pick<ProgramFunction, 'name' | 'arguments' | 'results'>[],
): Promise<Compared[]> {
  const slots = new Semaphore(AT_ONCE);
  const compare = async ({ name, ...types }: (typeof functions)[number], i: number) => {
    const folder = join(stock.folder, name);
    mkdirSync(folder, { recursive: true });
    const called = { name, ...types, call: null, unsupported: null };
    const inputs = await writeInputs(called, folder, i);
    return comparisonWith({ ...stock, folder, function: called, inputs, isRandom: true })(
      tuned,
      CALL_SECONDS,
    );
  };
  return Promise.all(functions.map((one, i) => slots.run(() => compare(one, i))));
}
