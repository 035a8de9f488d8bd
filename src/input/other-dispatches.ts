// The dispatches of a program without a tunable operation. They are tuned as a whole.
import { symbolsOf } from 'mlir-parser-ts';
import { dispatchWork } from '../workload/dispatch/from-configured.ts';
import { bytesOf, dispatchesOf, digestOf, executablesIn, signatureOf } from './dispatches.ts';
import type { SurveyedOperation } from './survey-memory.ts';

/** A softmax at the end of a function's name. */
const SOFTMAX = /softmax_\w+?(?=(?:_dispatch_tensor_store)?$)/;

/** Names of executables, with the digests that identify their workloads: of roots in their dispatch, and of whole dispatches. */
export const dispatchDigests = (flow: Uint8Array): (readonly [name: string, digest: string])[] => [
  ...dispatchesOf(flow).map(
    ({ executable, form }) => [executable, form.workload.context?.digest ?? ''] as const,
  ),
  ...executablesIn(flow).flatMap(({ name, function: own }) =>
    own === null ? [] : [[name, digestOf(own.text)] as const],
  ),
];

/**
 * The tunable whole dispatches, each computation once, and the softmaxes that are not tuned. Other dispatches are not reported. Pure.
 * @param flow the program after the phase `flow`
 * @param configured texts of its configured executables, by name
 * @param taken names of executables with a tunable operation
 */
export function otherDispatches(
  flow: Uint8Array,
  configured: ReadonlyMap<string, Uint8Array>,
  taken: ReadonlySet<string>,
): SurveyedOperation[] {
  const nowhere = { index: null, location: null, written: null };
  const softmaxes: SurveyedOperation[] = [];
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
    if (softmax !== undefined)
      softmaxes.push({ ...nowhere, ...workload, name: softmax, generated: null, executables: [name] });
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
