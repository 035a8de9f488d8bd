// The dispatches of a program without a tunable operation. They are tuned as a whole.
import { symbolsOf } from 'mlir-parser-ts';
import type { DispatchWork } from '../workload/dispatch/dispatch-work.ts';
import { dispatchWork } from '../workload/dispatch/from-configured.ts';
import type { Reason } from '../system/reason.ts';
import { bytesOf, digestOf, executablesIn, signatureOf } from './dispatches.ts';

export interface OtherDispatch {
  readonly workload: DispatchWork;
  /** Names of the executables with this computation. */
  readonly executables: readonly string[];
}

/** A softmax that is not tuned. Other dispatches without a workload are not reported. */
export interface SkippedSoftmax {
  /** Such as `softmax_64x64xf32`. */
  readonly name: string;
  readonly skipped: Reason;
  readonly executables: readonly string[];
}

/** A softmax at the end of a function's name. */
const SOFTMAX = /softmax_\w+?(?=(?:_dispatch_tensor_store)?$)/;

/** Each executable with the digest of its computation. */
export const otherDigests = (flow: Uint8Array): (readonly [name: string, digest: string])[] =>
  executablesIn(flow).flatMap(({ name, function: own }) =>
    own === null ? [] : [[name, digestOf(own.text)] as const],
  );

/**
 * The tunable whole dispatches, each computation once, and the softmaxes that are not tuned. Pure.
 * @param flow the program after the phase `flow`
 * @param configured texts of its configured executables, by name
 * @param taken names of executables with a tunable operation
 */
export function otherDispatches(
  flow: Uint8Array,
  configured: ReadonlyMap<string, Uint8Array>,
  taken: ReadonlySet<string>,
): { readonly tunable: readonly OtherDispatch[]; readonly skipped: readonly SkippedSoftmax[] } {
  const skipped: SkippedSoftmax[] = [];
  const found = executablesIn(flow).flatMap(({ name, function: own }) => {
    const source = configured.get(name);
    if (own === null || source === undefined || taken.has(name)) return [];
    const digest = digestOf(own.text);
    const types = signatureOf(own.text)?.types ?? [];
    const bytes = types.reduce((sum, { shape, elementType }) => sum + bytesOf(shape, elementType), 0);
    const text = Buffer.from(source).toString('latin1');
    const workload = dispatchWork(text, { executable: name, digest, bytes });
    if (!('skipped' in workload)) return [{ workload, name }];
    const [softmax] = SOFTMAX.exec(symbolsOf(source, 'func.func')[0] ?? '') ?? [];
    if (softmax !== undefined) skipped.push({ name: softmax, ...workload, executables: [name] });
    return [];
  });
  const tunable = [...Map.groupBy(found, ({ workload }) => workload.digest).values()].map((all) => ({
    workload: all[0]!.workload,
    executables: all.map(({ name }) => name),
  }));
  return { tunable, skipped };
}
