// Which dispatches of a program do contractions, and of which workload.
import { parse, type Operation } from 'mlir-parser-ts';
import { dispatchesOf } from '../../src/input/dispatches.ts';
import { rootFormOf, workloadKey, workloadOf } from '../../src/workload/workload.ts';

/** What a dispatch multiplies and adds. */
export interface Root {
  /**
   * As the explain JSON spells workloads, but for constants, which only the input tells: with what the dispatch has around it,
   * where that is known. Null for what is none, such as a convolution.
   */
  readonly workload: string | null;
  /** Why it is none. */
  readonly reason: string | null;
}

/**
 * The dispatches with a contraction, or with something like it, by name.
 * @param sources what the compiler prints with `--compile-to=executable-sources`
 * @param flow what it prints with `--compile-to=flow`
 */
export function contractionRoots(sources: Uint8Array, flow: Uint8Array): Map<string, Root> {
  const roots = new Map<string, Root>();
  const inProgram = new Map(
    dispatchesOf(flow).map(({ executable, form }) => [executable, workloadKey(form.workload)]),
  );
  for (const operation of parse(sources).operations) {
    if (operation.symbol === null || !multipliesAndAdds(operation)) continue;
    const read = rootFormOf(operation) ?? workloadOf(operation);
    const root =
      'skipped' in read
        ? {
            workload: null,
            reason: hasWindow(operation) ? 'convolutions of this form are not tuned yet' : read.skipped,
          }
        : {
            workload: inProgram.get(executableOf(operation.symbol)) ?? workloadKey(read.workload),
            reason: null,
          };
    // Of several that are fused, the one that could be tuned.
    if (!roots.get(operation.symbol)?.workload) roots.set(operation.symbol, root);
  }
  return roots;
}

/** A dispatch's name begins with that of its executable. */
const executableOf = (dispatch: string) => /^.*?_dispatch_\d+/.exec(dispatch)?.[0] ?? dispatch;

/** The maximum over a window has the loops of a convolution, too. */
const multipliesAndAdds = ({ kind, body }: Operation) => kind === 'convolution' || body !== 'other';

/** Whether something is summed over a window: it is in the image's map only together with the place of the result. */
const hasWindow = ({ indexingMaps, iteratorTypes }: Operation): boolean =>
  indexingMaps.some(({ results }) => results.includes(null)) &&
  iteratorTypes.some(
    (type, loop) =>
      type !== 'parallel' && !indexingMaps.slice(0, 2).every(({ results }) => results.includes(loop)),
  );
