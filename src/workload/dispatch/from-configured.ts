// From what the compiler has configured to a workload.
import { readConfigured, type ConfiguredDispatch } from './configured.ts';
import { dispatchIterations, type DispatchWork } from './dispatch-work.ts';

/**
 * Pipelines whose tiles are understood, and where other tiles are worth a try. `ConvTileAndDecomposeExpert`, which moves filters and
 * windows, makes vectors of few tiles; its own are among these (12 poolings and convolutions tried: the best of the others took
 * 1.02 to 20 times as long).
 */
const PIPELINES = new Set(['DoubleTilingExpert', 'LinalgExtTileAndVectorize', 'BufferOpsTileAndVectorize']);

/** What takes fewer iterations takes no time that anybody would miss. */
const LEAST_ITERATIONS = 2 ** 15;

/** No dispatch has as many. */
export const MOST_PARTS = 64;
export const MOST_DIMENSIONS = 32;

/**
 * The workload of a dispatch; null where its tiles are not understood, or it does too little to be worth it.
 * @param text of its executable, as the compiler has configured it
 */
export function dispatchWork(
  text: string,
  {
    executable,
    digest,
    bytes,
  }: { readonly executable: string; readonly digest: string; readonly bytes: number },
): DispatchWork | null {
  const configured = readConfigured(text);
  if (configured === null || !PIPELINES.has(configured.pipeline)) return null;
  const work: DispatchWork = { ...shapeOf(configured), digest, bytes, name: nameOf(configured, executable) };
  const isSmall = dispatchIterations(work) < LEAST_ITERATIONS;
  return isSmall || work.parts.length > MOST_PARTS || work.dimensions.length > MOST_DIMENSIONS ? null : work;
}

/** What decides about tiles. */
type Shape = Omit<DispatchWork, 'digest' | 'bytes' | 'name'>;

export function shapeOf({ pipeline, sizes, parts, root, elementType, lane }: ConfiguredDispatch): Shape {
  const { loops: own, reduced: summed } = parts[root]!;
  const isReduced = (d: number) => summed.some((loop) => own[loop] === d);
  return {
    kind: 'dispatch',
    ...{ pipeline, elementType, lane },
    dimensions: sizes.map((size, d) => ({ kind: isReduced(d) ? 'k' : 'm', size })),
    parts: parts.map(({ name, loops, reduced }) => ({ name, loops, reduced })),
  };
}

/** Whether a configured dispatch is that of a workload, as far as tiles are concerned. */
export const isShapedLike = (configured: ConfiguredDispatch, work: DispatchWork): boolean =>
  tilingOf(shapeOf(configured)) === tilingOf(work);

const tilingOf = ({ pipeline, dimensions, parts }: Shape): string =>
  JSON.stringify([pipeline, dimensions, parts]);

/** The compiler calls a dispatch after its executable and what it computes. */
function nameOf({ function: name }: ConfiguredDispatch, executable: string): string {
  const own = name.startsWith(`${executable}_`) ? name.slice(executable.length + 1) : 'elementwise';
  return own
    .replace(/_dispatch_tensor_store$/, '')
    .replaceAll(/[^\w.-]/g, '_')
    .slice(0, 120);
}
