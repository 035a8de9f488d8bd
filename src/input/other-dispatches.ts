// The dispatches of a program without a tunable operation. They are tuned as a whole.
import type { DispatchWork } from '../workload/dispatch/dispatch-work.ts';
import { dispatchWork } from '../workload/dispatch/from-configured.ts';
import { bytesOf, digestOf, executablesIn, signatureOf } from './dispatches.ts';

export interface OtherDispatch {
  readonly workload: DispatchWork;
  /** Names of the executables with this computation. */
  readonly executables: readonly string[];
}

/** Each executable with the digest of its computation. */
export const otherDigests = (flow: Uint8Array): (readonly [name: string, digest: string])[] =>
  executablesIn(flow).flatMap(({ name, function: own }) =>
    own === null ? [] : [[name, digestOf(own.text)] as const],
  );

/**
 * The tunable whole dispatches, each computation once. Pure.
 * @param flow the program after the phase `flow`
 * @param configured texts of its configured executables, by name
 * @param taken names of executables with a tunable operation
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
