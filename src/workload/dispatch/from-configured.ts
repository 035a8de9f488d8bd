// The workload of a dispatch that the compiler has configured.
import { DYNAMIC, pipelineIn, readConfigured, type ConfiguredDispatch } from './configured.ts';
import { dispatchIterations, LEAST_ITERATIONS, multipliedAlong, type DispatchWork } from './dispatch-work.ts';
import { isDynamic } from '../sizes.ts';
import { because, type Reason } from '../../system/reason.ts';

/** The pipeline of attentions on GPUs, and of reductions, which are not tuned. */
const ATTENTION_ON_GPUS = 'VectorDistribute';

/** Pipelines with tiles that can be varied. */
const PIPELINES = new Set([
  'DoubleTilingExpert',
  'LinalgExtTileAndVectorize',
  'BufferOpsTileAndVectorize',
  ATTENTION_ON_GPUS,
]);

/** Reasons to skip other pipelines. */
const LEFT_ALONE: Readonly<Record<string, string>> = {
  // Of 12 poolings and convolutions, the best other tiles took 1.02 to 20 times as long as the default.
  ConvTileAndDecomposeExpert:
    'this pipeline makes vectors of few tiles, and the tiles of the compiler are among these',
  Mmt4dTilingExpert: 'packed operands have the tiles that they are packed in',
  DataTiling: 'packing has the tiles that it packs into',
  Default: 'the compiler makes loops of it without tiles',
};

/** No dispatch has more. */
export const MOST_PARTS = 64;
export const MOST_DIMENSIONS = 32;

/**
 * The workload of a dispatch, or the reason why it is skipped.
 * @param text of its configured executable
 */
export function dispatchWork(
  text: string,
  { executable, digest, bytes }: Pick<DispatchWork, 'digest' | 'bytes'> & { readonly executable: string },
): DispatchWork | Reason {
  const pipeline = pipelineIn(text);
  if (pipeline === null || !PIPELINES.has(pipeline))
    return skip(LEFT_ALONE[pipeline ?? ''] ?? 'the tiles of this pipeline are not understood');
  const configured = readConfigured(text);
  if (configured !== null && pipeline === ATTENTION_ON_GPUS && configured.matrix === undefined)
    return skip('on a GPU, only attentions with matrix instructions have tiles that are varied');
  if (configured === null) return skip('its operations, or where their loops run, are not understood');
  const work: DispatchWork = { ...shapeOf(configured), digest, bytes, name: nameOf(configured, executable) };
  const multiplied = multipliedAlong(work.parts);
  if (multiplied !== null && work.dimensions[multiplied]!.sizes !== undefined)
    return skip('queries and keys are multiplied along a dynamic dimension, which has to be whole');
  if (!isDynamic(work) && dispatchIterations(work) < LEAST_ITERATIONS) return because('too-little-work');
  return work.parts.length > MOST_PARTS || work.dimensions.length > MOST_DIMENSIONS
    ? skip('it has too many operations')
    : work;
}

const skip = (text: string): Reason => because('dispatch-unsupported', text);

/** The fields that decide the tiles. */
type Shape = Omit<DispatchWork, 'digest' | 'bytes' | 'name'>;

function shapeOf({ sizes, parts, root, ...own }: ConfiguredDispatch): Shape {
  const { pipeline, elementType, lane, matrix } = own;
  const { loops, reduced } = parts[root]!;
  const isReduced = (d: number) => reduced.some((loop) => loops[loop] === d);
  return {
    kind: 'dispatch',
    ...{ pipeline, elementType, lane },
    ...(matrix && { matrix }),
    dimensions: sizes.map((size, d) => ({
      kind: isReduced(d) ? 'k' : 'm',
      ...(size === DYNAMIC ? { size: 0, sizes: [] } : { size }),
    })),
    parts: parts.map((one) => ({ name: one.name, loops: one.loops, reduced: one.reduced })),
  };
}

/** Reads a configured executable; null if tiles of a workload do not fit it. */
export function readShapedLike(text: string, work: DispatchWork): ConfiguredDispatch | null {
  const configured = readConfigured(text);
  return configured !== null && tilingOf(shapeOf(configured)) === tilingOf(work) ? configured : null;
}

const tilingOf = ({ pipeline, dimensions, parts, matrix }: Shape): string => {
  const sizes = dimensions.map((one) => (one.sizes === undefined ? one : { kind: one.kind }));
  return JSON.stringify([pipeline, sizes, parts, matrix]);
};

/** The compiler's name for the computation. It names the function after the executable and the computation. */
function nameOf({ function: name }: ConfiguredDispatch, executable: string): string {
  const own = name.startsWith(`${executable}_`) ? name.slice(executable.length + 1) : 'elementwise';
  return own
    .replace(/_dispatch_tensor_store$/, '')
    .replaceAll(/[^\w.-]/g, '_')
    .slice(0, 120);
}
