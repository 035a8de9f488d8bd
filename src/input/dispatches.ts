// The tunable dispatches of a program: those with a root that is tuned in its dispatch, and the others, which are tuned as a whole. Pure.
import { symbolsOf } from 'mlir-parser-ts';
import { backendNamed } from '../backend/index.ts';
import { BOUND_BY_WIDE_WORK, BOUND_BY_WORK, LEAST_STREAMED } from '../workload/contraction/traffic.ts';
import { dispatchWork } from '../workload/dispatch/from-configured.ts';
import type { Tensor } from '../workload/tensor.ts';
import { rootFormOf, workloadFlops, type OperationWorkload } from '../workload/workload.ts';
import { isReason } from '../system/reason.ts';
import { bytesOf, digestOf, type Call, type Executable, type Flow } from './flow.ts';
import type { SurveyedOperation } from './survey-memory.ts';

/** Most buffers of one operand. */
const MOST_BUFFERS = 256;

/** Most bytes of the buffers of one operand. */
const MOST_BYTES = 512 * 1024 * 1024;

/**
 * Least bytes of the buffers of a streamed operand. The last-level cache may be larger than all weights of a program, but results
 * and other processes use that cache too, so it does not keep the weights.
 */
const COLD_BYTES = 64 * 1024 * 1024;

/** In bytes. No cache keeps the weights of a program that reads more. */
const LEAST_PASSING = 32 * 1024 * 1024;

/** Largest share of these bytes that one dispatch reads itself. */
const OWN_SHARE = 0.25;

/**
 * By executable, the root of each dispatch with exactly one multiply-add operation. All other work in it is element-wise. The root's context is
 * the dispatch, unless the root can be measured alone.
 */
export function rootsIn({ text, executables }: Flow): ReadonlyMap<string, OperationWorkload> {
  const hasWideVectors = /\bnative_vector_size = 64\b/.test(text);
  const backend = backendNamed(/#hal\.executable\.target<"([\w-]+)"/.exec(text)?.[1] ?? '');
  const rootOf = ({ operations, calls, function: own }: Executable): OperationWorkload | null => {
    const [root] = operations;
    if (root === undefined || operations.length !== 1 || calls.length === 0 || own === null) return null;
    const form = rootFormOf(root);
    if (form === null || form.workload.dimensions.some(({ sizes }) => sizes !== undefined)) return null;
    if (typeof backend?.tuning(form.workload).unsupported === 'string') return null;
    if (own.signature === null || !isElementwiseBeside(own.text)) return null;
    const isPlain = root.indexingMaps.every(({ strided, windows }) => !strided && !windows);
    const { types, results } = own.signature;
    const streamed = streamedBuffers(types, calls, workloadFlops(form.workload), hasWideVectors);
    // Cheap fused operations change little: the root is measured alone.
    const isLight = !/= math\.(?!(?:absf|floor|ceil|fma)\b)/.test(own.text);
    if (isPlain && isLight && results === 1 && streamed.every((buffers) => buffers === 1)) return form;
    const dispatch = {
      text: own.text,
      arguments: types.map((type, i) => ({ ...type, buffers: streamed[i]! })),
      ...(results > 1 && { results }),
      loops: form.loops,
      isStrided: !isPlain,
    };
    const context = { digest: digestOf(JSON.stringify(dispatch)), dispatch };
    return { ...form, workload: { ...form.workload, context } };
  };
  return new Map(
    executables.flatMap((one) => {
      const root = rootOf(one);
      return root === null ? [] : [[one.name, root] as const];
    }),
  );
}

/** Whether a dispatch is safe on arbitrary values: it reads no index from memory. */
const isElementwiseBeside = (text: string): boolean =>
  [...text.matchAll(/(?:^|= )\s*("?[a-z_]+(?:\.[a-z_]+)+"?)/gm)].every(([, name]) =>
    /^(?:func\.func|(?:iree_tensor_ext|flow)\.dispatch\.tensor\.(?:load|store)|arith\.\w+|math\.\w+|linalg\.(?:fill|generic|yield|matmul\w*|batch_\w+|vecmat|matvec|dot|transpose|broadcast)|tensor\.(?:empty|expand_shape|collapse_shape|extract_slice)|affine_map|iterator_types)$/.test(
      name!,
    ),
  ) && !/elided|dense_resource/.test(text);

/**
 * For each argument, the number of buffers through which calls rotate. If memory limits a dispatch, its weights must come from
 * memory, as in the program, which reads all other weights between two calls. Otherwise one buffer is enough.
 */
function streamedBuffers(
  types: readonly Tensor[],
  calls: readonly Call[],
  flops: number,
  hasWideVectors: boolean,
): number[] {
  const sizes = types.map(({ shape, elementType }) => bytesOf(shape, elementType));
  const isStreamed = sizes.map(
    (size, i) => size >= LEAST_STREAMED && calls.some(({ operands }) => typeof operands[i] === 'string'),
  );
  const streamed = sizes.reduce((sum, size, i) => (isStreamed[i]! ? sum + size : sum), 0);
  const passing = Math.max(...calls.map(({ streamedBytes }) => streamedBytes));
  const isFarMore = passing >= LEAST_PASSING && streamed <= OWN_SHARE * passing;
  const most = hasWideVectors && isFarMore ? BOUND_BY_WIDE_WORK : BOUND_BY_WORK;
  if (streamed === 0 || flops / streamed > most) return sizes.map(() => 1);
  // The program reads hardly anything else.
  const isAlone = (size: number) => passing < 1.5 * size;
  const spread = Math.min(MOST_BYTES, Math.max(COLD_BYTES, passing));
  // A power of two, so that programs that differ in a layer share workloads.
  return sizes.map((size, i) =>
    isStreamed[i]! && !isAlone(size)
      ? Math.min(MOST_BUFFERS, 2 ** Math.max(0, Math.round(Math.log2(spread / size))))
      : 1,
  );
}

/** A softmax at the end of a function's name. */
const SOFTMAX = /softmax_\w+?(?=(?:_dispatch_tensor_store)?$)/;

/** Names of executables, with the digests that identify their workloads: of roots in their dispatch, and of whole dispatches. */
export const dispatchDigests = (flow: Flow): (readonly [name: string, digest: string])[] => [
  ...[...rootsIn(flow)].map(([name, { workload }]) => [name, workload.context?.digest ?? ''] as const),
  ...flow.executables.flatMap(({ name, function: own }) =>
    own === null ? [] : [[name, own.digest] as const],
  ),
];

/**
 * The tunable whole dispatches, each computation once, and the softmaxes that are not tuned. Other dispatches are not reported.
 * @param configured texts of the configured executables, by name
 * @param taken names of executables with a tunable operation
 */
export function otherDispatches(
  flow: Flow,
  configured: ReadonlyMap<string, Uint8Array>,
  taken: ReadonlySet<string>,
): SurveyedOperation[] {
  const nowhere = { index: null, location: null, written: null };
  const softmaxes: SurveyedOperation[] = [];
  const found = flow.executables.flatMap(({ name, function: own }) => {
    const source = configured.get(name);
    if (own === null || source === undefined || taken.has(name)) return [];
    const types = own.signature?.types ?? [];
    const bytes = types.reduce((sum, { shape, elementType }) => sum + bytesOf(shape, elementType), 0);
    const text = Buffer.from(source).toString('latin1');
    const workload = dispatchWork(text, { executable: name, digest: own.digest, bytes });
    if (!isReason(workload)) return [{ workload, name }];
    const [softmax] = SOFTMAX.exec(symbolsOf(source, 'func.func')[0] ?? '') ?? [];
    if (softmax !== undefined)
      softmaxes.push({ ...nowhere, skipped: workload, name: softmax, generated: null, executables: [name] });
    return [];
  });
  const tunable = [...Map.groupBy(found, ({ workload }) => workload.digest).values()].map((all) => {
    const { workload } = all[0]!;
    const generated = { workload, loops: [...workload.dimensions.keys()] };
    const executables = all.map(({ name }) => name);
    return { ...nowhere, name: workload.name, skipped: null, generated, executables };
  });
  return [...tunable, ...softmaxes];
}
