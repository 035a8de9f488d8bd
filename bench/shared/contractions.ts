// Which dispatches of a program do contractions, and of which workload.
import { parse, type Operation } from 'mlir-parser-ts';
import { dispatchesOf } from '../../src/input/dispatches.ts';
import { rootFormOf, workloadKey, workloadOf } from '../../src/workload/workload.ts';

/**
 * Workload of each dispatch that does a contraction, by the dispatch's name. Spelled as in the explain JSON, but for constants, which
 * only the input tells; with the context of the dispatch where that is known. Null for what is no workload, such as a pooling.
 */
export type Roots = ReadonlyMap<string, string | null>;

/**
 * @param sources what the compiler prints with `--compile-to=executable-sources`
 * @param flow what it prints with `--compile-to=flow`
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
    // Of several that are fused, the one that could be tuned.
    roots.set(operation.symbol, roots.get(operation.symbol) ?? workload);
  }
  return roots;
}

/** A dispatch's name begins with that of its executable. */
const executableOf = (dispatch: string) => /^.*?_dispatch_\d+/.exec(dispatch)?.[0] ?? dispatch;

/** The maximum over a window has the loops of a convolution, too. */
const multipliesAndAdds = ({ kind, body }: Operation) => kind === 'convolution' || body !== 'other';
