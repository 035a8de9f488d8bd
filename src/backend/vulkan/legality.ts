// What the SPIR-V pipelines take: a configuration that passes here compiles, and gives right results. The compiler itself accepts
// tiles that leave a remainder, and then sums part of it twice.
import { elementBits } from '../../workload/element-type.ts';
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
  { dimensions, lhs, rhs, accumulator }: OperationWork,
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
  const lanes = c.kind === 'spirv-matrix' ? c.subgroupSize : 1;
  if (product(parallel) * lanes > target.threads) return `more than ${target.threads} threads`;
  if (c.kind === 'spirv-tile') {
    const results = product(c.thread.filter((tile) => tile > 0));
    if (results > MOST_RESULTS) return `more than ${MOST_RESULTS} results of a thread`;
    if (results * product(c.reduction.filter((tile) => tile > 0)) > MOST_PRODUCTS)
      return `more than ${MOST_PRODUCTS} products of a thread`;
    return null;
  }
  const bytes = ({ elementType }: { readonly elementType: string }) => elementBits(elementType) / 8;
  const [m, n, k] = (['m', 'n', 'k'] as const).map((kind) =>
    product(dimensions.flatMap((one, d) => (one.kind === kind ? [c.workgroup[d]! + c.reduction[d]!] : []))),
  ) as [number, number, number];
  const stages = c.kind === 'spirv-promote' ? c.depth + (c.storeStage === 0 ? 1 : 0) : 2;
  const shared =
    stages * (m * (k * bytes(lhs) + ROW_PADDING) + k * (n * bytes(rhs) + ROW_PADDING)) +
    (c.kind === 'spirv-matrix' ? m * (n * bytes(accumulator) + ROW_PADDING) : 0);
  return shared > target.sharedMemoryBytes ? 'more shared memory than the GPU has' : null;
}

/** The compiler lengthens each row in shared memory, so that fewer of them begin in the same bank. */
const ROW_PADDING = 16;

const product = (numbers: readonly number[]) => numbers.reduce((all, one) => all * one, 1);
