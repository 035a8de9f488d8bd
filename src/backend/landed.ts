// Which operations of the compiler's dumps a configuration is on.
import { matchKey, type MatchedForm, type OperationWork } from '../workload/workload.ts';
import type { ConfiguredOperation } from './dumps.ts';

/**
 * The operations that are of this form and have a configuration; none where it has not landed.
 * @param loops in which the directive was rendered
 * @param expected keys of the forms that all operations of the input have
 * @param has whether an operation has the configuration
 */
export function landedWith(
  configured: readonly ConfiguredOperation[],
  form: MatchedForm,
  loops: readonly number[],
  expected: ReadonlySet<string>,
  has: (one: ConfiguredOperation) => boolean,
): readonly ConfiguredOperation[] {
  const own = configured.filter(({ key }) => key === matchKey(form));
  if (own.length > 0) return own.filter(has);
  // The compiler made something else of it, in a fusion or because nobody made a survey: then what runs over the same loops,
  // and is not what another operation became.
  return configured.filter(
    (one) => has(one) && !(one.key !== null && expected.has(one.key)) && runsOver(one, form.workload, loops),
  );
}

/** Whether an operation's loops are those that a configuration has tiles for. */
const runsOver = (
  operation: ConfiguredOperation,
  { dimensions }: OperationWork,
  loops: readonly number[],
): boolean =>
  operation.loops.length === loops.length &&
  operation.loops.every(({ size, isReduced }, loop) => {
    const dimension = dimensions[loops[loop]!]!;
    return (
      isReduced === (dimension.kind === 'k') && size === (dimension.sizes === undefined ? dimension.size : -1)
    );
  });
