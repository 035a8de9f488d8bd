// Measures the peak of multiply-adds of a device: a product of small matrices, which stay in the caches, by the best of a few configurations.
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { parse } from 'mlir-parser-ts';
import { backendNamed } from '../backend/index.ts';
import type { MeasuringTools } from '../compiler/find.ts';
import { buildCandidates } from '../measure/build.ts';
import { candidateOf, stockCandidate } from '../measure/candidate-module.ts';
import { benchmark } from '../measure/benchmark.ts';
import { loadedWith } from '../measure/common-modules.ts';
import type { Site } from '../site/site.ts';
import { elementBits, isFloat } from '../workload/element-type.ts';
import { workloadFlops, workloadOf, type OperationWork } from '../workload/workload.ts';
import { toolchainOf } from '../tuning/here.ts';
import { isReason } from '../system/reason.ts';

/** Element types of factors whose peak is measured. */
export const PEAK_TYPES: readonly string[] = ['f32', 'f16', 'bf16', 'i8'];

/** Rows, columns and sum. Tiles of all three stay in the level-1 cache, and all threads get tiles. */
const SIZE = 512;

/** Configurations that are tried, besides the default. The first ones of a space are its best guesses. */
const MOST_CONFIGURATIONS = 7;

const SECONDS_TO_COMPILE = 60;

/** Many short repetitions: the fastest one counts, because other processes only add time. */
const EFFORT = { repetitions: 60, minSeconds: 0.002, timeoutSeconds: 30 };

/** A product of square matrices of this element type, summed as a compiler's front end does. */
export function peakWorkload(type: string): OperationWork {
  const sums = isFloat(type) ? (elementBits(type) < 32 ? 'f32' : type) : 'i32';
  const [factor, result] = [type, sums].map((one) => `tensor<${SIZE}x${SIZE}x${one}>`);
  const text = `func.func @main(%a: ${factor!}, %b: ${factor!}, %c: ${result!}) -> ${result!} {
  %r = linalg.matmul ins(%a, %b : ${factor!}, ${factor!}) outs(%c : ${result!}) -> ${result!}
  return %r : ${result!}
}
`;
  const [operation] = parse(Buffer.from(text)).operations;
  const read = workloadOf(operation!);
  if (isReason(read)) throw new Error(`no product of ${type}`);
  return read.workload;
}

/**
 * Multiply-adds per second on all threads; null if no configuration can be measured. The caller holds the measuring lock.
 * @param folder for modules; the caller removes it
 * @throws StoppedError when the signal fires
 */
export async function peakRate(
  type: string,
  site: Site,
  tools: MeasuringTools,
  folder: string,
  cacheDirectory: string,
  signal: AbortSignal,
): Promise<number | null> {
  const backend = backendNamed(site.target.key);
  if (backend === undefined) return null;
  const workload = peakWorkload(type);
  const toolchain = toolchainOf(
    site,
    tools,
    join(folder, `peak-${type}-${randomUUID()}`),
    cacheDirectory,
    signal,
  );
  const hardware = backend.devices.hardwareOf(site.target.target, site.device);
  const options = { ...hardware, wholeProgram: true, following: false };
  const space = backend.tuning(workload).space(options);
  const starts = space.starts.map((point) => space.configurationAt(point));
  const packed = backend.wholeProgram?.candidate(workload, options) ?? null;
  const tried = [packed, ...starts, ...space.alternatives]
    .filter((one) => one !== null)
    .slice(0, MOST_CONFIGURATIONS)
    .map((configuration, i) => candidateOf(`c${i}`, configuration, workload, toolchain.release));
  const candidates = [stockCandidate('stock'), ...tried];
  const { module, built } = await buildCandidates(
    toolchain,
    workload,
    candidates,
    'peak',
    SECONDS_TO_COMPILE,
  );
  const modules = module === null ? null : await loadedWith(toolchain, workload, module);
  if (modules === null) return null;
  const names = built.map(({ name }) => name);
  const { seconds } = await benchmark(toolchain, modules, names, EFFORT);
  const fastest = Math.min(...[...seconds.values()].flat());
  return Number.isFinite(fastest) ? workloadFlops(workload) / 2 / fastest : null;
}
