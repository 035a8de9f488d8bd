// Operations of the compiler's dumps with a configuration.
import { matchKey, type MatchedForm, type OperationWork } from '../workload/workload.ts';
import type { Rendered } from './compilation-info.ts';
import type { ConfiguredOperation } from './dumps.ts';

/**
 * The operations of this form with a configuration; none if the configuration has not landed.
 * @param loops of the rendered directive
 * @param expected keys of the forms of all operations of the input
 * @param rendered the configuration; without a translation, every translation counts
 */
export function landedWith(
  configured: readonly ConfiguredOperation[],
  form: MatchedForm,
  loops: readonly number[],
  expected: ReadonlySet<string>,
  { lowering, translation }: Partial<Rendered>,
): readonly ConfiguredOperation[] {
  const has = (one: ConfiguredOperation) =>
    one.lowering === lowering && (translation === undefined || one.translation === translation);
  const own = configured.filter(({ key }) => key === matchKey(form));
  if (own.length > 0) return own.filter(has);
  // A fusion, or a build without a survey, gives the operation another form. Then any operation with the same loops counts, unless its
  // form belongs to another operation.
  return configured.filter(
    (one) => has(one) && !(one.key !== null && expected.has(one.key)) && runsOver(one, form.workload, loops),
  );
}

/** Whether an operation has the loops of a configuration's tiles. */
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
