// The dispatches of a program that nothing is tuned of as an operation: they are tuned as a whole.
import type { DispatchWork } from '../workload/dispatch/dispatch-work.ts';
import { dispatchWork } from '../workload/dispatch/from-configured.ts';
import { bytesOf, digestOf, executablesIn, signatureOf } from './dispatches.ts';

export interface OtherDispatch {
  readonly workload: DispatchWork;
  /** Names of those that it is. */
  readonly executables: readonly string[];
}

/** Executables by what they compute, as digests: equal for those that compute the same. */
export const otherDigests = (flow: Uint8Array): (readonly [name: string, digest: string])[] =>
  executablesIn(flow).flatMap(({ name, function: own }) =>
    own === null ? [] : [[name, digestOf(own.text)] as const],
  );

/**
 * Those that can be tuned, each once. Pure.
 * @param flow the program at the end of `flow`
 * @param configured its executables as the compiler has configured them, by name
 * @param taken names of those that something is tuned of
 */
export function otherDispatches(
  flow: Uint8Array,
  configured: ReadonlyMap<string, Uint8Array>,
  taken: ReadonlySet<string>,
): OtherDispatch[] {
  const found = executablesIn(flow).flatMap(({ name, function: own }) => {
    const source = configured.get(name);
    if (own === null || source === undefined || taken.has(name)) return [];
    const digest = digestOf(own.text);
    const types = signatureOf(own.text)?.types ?? [];
    const bytes = types.reduce((sum, { shape, elementType }) => sum + bytesOf(shape, elementType), 0);
    const workload = dispatchWork(Buffer.from(source).toString('latin1'), {
      executable: name,
      digest,
      bytes,
    });
    return typeof workload === 'string' ? [] : [{ workload, name }];
  });
  return [...Map.groupBy(found, ({ workload }) => workload.digest).values()].map((all) => ({
    workload: all[0]!.workload,
    executables: all.map(({ name }) => name),
  }));
}
