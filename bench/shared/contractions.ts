// The workloads of a program's dispatches.
import { parse, type Operation } from 'mlir-parser-ts';
import { dispatchesOf } from '../../src/input/dispatches.ts';
import { rootFormOf, workloadKey, workloadOf } from '../../src/workload/workload.ts';

/**
 * Workload key of each dispatch with a contraction or a convolution, by the dispatch's name. Keys are those of the explain JSON, but
 * without `rhs=constant`. They have the context of the dispatch if it is known. Null for a dispatch without a workload.
 */
export type Roots = ReadonlyMap<string, string | null>;

/**
 * @param sources the compiler's text with `--compile-to=executable-sources`
 * @param flow the compiler's text with `--compile-to=flow`
 */
export function contractionRoots(sources: Uint8Array, flow: Uint8Array): Roots {
  const roots = new Map<string, string | null>();
  const inProgram = new Map(
    dispatchesOf(flow).map(({ executable, form }) => [executable, workloadKey(form.workload)]),
  );
  for (const operation of parse(sources).operations) {
    if (operation.symbol === null || !multipliesAndAdds(operation)) continue;
    const read = rootFormOf(operation) ?? workloadOf(operation);
    const workload =
      'skipped' in read
        ? null
        : (inProgram.get(executableOf(operation.symbol)) ?? workloadKey(read.workload));
    // Of several fused operations, one with a workload counts.
    roots.set(operation.symbol, roots.get(operation.symbol) ?? workload);
  }
  return roots;
}

/** The name of a dispatch begins with the name of its executable. */
const executableOf = (dispatch: string) => /^.*?_dispatch_\d+/.exec(dispatch)?.[0] ?? dispatch;

/** A convolution, or a body that multiplies and adds. The loops alone would also fit the maximum over a window. */
const multipliesAndAdds = ({ kind, body }: Operation) => kind === 'convolution' || body !== 'other';
