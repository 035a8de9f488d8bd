// How near the results of a network in 8 bits are to those of the network that it was made of: tuned, stock and ONNX Runtime, over random inputs.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { decodeElements } from '../../../src/measure/elements.ts';
import { sumOf } from '../../../src/measure/statistics.ts';
import { largestOfRows, relativeError, resultsOf, type Call } from './outputs.ts';
import type { Peer, Prepared } from './peer.ts';

const DRAWS = 100;

/** Of one contestant, over all draws of inputs. */
export interface Agreement {
  /** Draws with the same largest element of the first result as the original network. */
  readonly sameAsOriginal: number;
  /** Draws with the same largest element as stock. */
  readonly sameAsStock: number;
  /** Mean over the draws of the error relative to the original network: see `relativeError`. */
  readonly error: number;
}

export interface Accuracy {
  readonly draws: number;
  readonly stock: Agreement;
  readonly tuned: Agreement;
  readonly onnxRuntime: Agreement;
}

/** @param original path of the ONNX model before its quantization */
export async function accuracyOf(
  model: Prepared,
  original: string,
  call: Call,
  { stock, tuned }: { readonly stock: string; readonly tuned: string },
  onnxRuntime: Peer,
): Promise<Accuracy> {
  const { elementType } = call.function.results[0]!;
  const draws = await onnxRuntime.draw(model, original, DRAWS, join(call.folder, 'draws'));
  const stocks: Buffer[] = [];
  const tuneds: Buffer[] = [];
  for (const { inputs } of draws)
    for (const [module, results] of [
      [stock, stocks],
      [tuned, tuneds],
    ] as const)
      results.push((await resultsOf({ ...call, inputs: inputs.map((path) => `@${path}`) }, module))[0]!);
  const own = draws.map(({ result }) => readFileSync(result));
  const originals = draws.map((one) => readFileSync(one.original));
  const top = (results: readonly Buffer[]) =>
    results.map((bytes) => {
      const elements = decodeElements(bytes, elementType)!;
      return largestOfRows(elements, elements.length)[0];
    });
  const agreementOf = (results: readonly Buffer[]): Agreement => {
    const sameAs = (others: readonly Buffer[]) => {
      const theirs = top(others);
      return top(results).filter((one, i) => one === theirs[i]).length;
    };
    return {
      ...{ sameAsOriginal: sameAs(originals), sameAsStock: sameAs(stocks) },
      error: sumOf(results.map((one, i) => relativeError(one, originals[i]!, elementType))) / DRAWS,
    };
  };
  return {
    ...{ draws: DRAWS, stock: agreementOf(stocks), tuned: agreementOf(tuneds) },
    onnxRuntime: agreementOf(own),
  };
}
