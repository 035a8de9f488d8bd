// What the SPIR-V pipeline takes: a configuration that passes here compiles, and gives right results. The compiler itself accepts
// tiles that leave a remainder, and then sums part of it twice.
import type { OperationWork } from '../../workload/workload.ts';
import type { GpuTarget } from '../gpu/target.ts';
import type { VulkanConfiguration } from './configuration.ts';
import { threadsOf } from './render.ts';

/** Results that one thread holds in registers, at most. */
export const MOST_RESULTS = 128;

/** Products that are written out for one thread: more take the compiler seconds. */
export const MOST_PRODUCTS = 2048;

/** A workgroup has threads along x, y and z alone. */
const THREAD_DIMENSIONS = 3;

/** Why a configuration must not be tried; null when it is legal. Pure. */
export function illegality(
  { dimensions, accumulator }: OperationWork,
  c: VulkanConfiguration,
  target: GpuTarget,
): string | null {
  const threads = threadsOf(c);
  for (const [d, { kind, size }] of dimensions.entries()) {
    const isReduced = kind === 'k';
    const [tile, other] = isReduced ? [c.reduction[d]!, c.workgroup[d]!] : [c.workgroup[d]!, c.reduction[d]!];
    if (tile < 1 || other !== 0) return `${kind} has no tile`;
    if (size % tile !== 0) return `${tile} does not divide ${kind}=${size}`;
    if (!isReduced && !Number.isInteger(threads[d])) return `no whole number of threads along ${kind}`;
  }
  const parallel = accumulator.dimensions.map((d) => threads[d]!).toReversed();
  if (parallel.slice(THREAD_DIMENSIONS).some((count) => count > 1)) return 'threads along a fourth dimension';
  if (parallel.slice(0, THREAD_DIMENSIONS).some((count, i) => count > target.workgroupSizes[i]!))
    return 'more threads along a dimension than the GPU has';
  if (product(parallel) > target.threads) return `more than ${target.threads} threads`;
  const results = product(c.thread.filter((tile) => tile > 0));
  if (results > MOST_RESULTS) return `more than ${MOST_RESULTS} results of a thread`;
  return results * product(c.reduction.filter((tile) => tile > 0)) > MOST_PRODUCTS
    ? `more than ${MOST_PRODUCTS} products of a thread`
    : null;
}

const product = (numbers: readonly number[]) => numbers.reduce((all, one) => all * one, 1);
