// A configuration in the compiler's spelling: the attribute that carries it, and the operations of the compiler's dumps that have it.
import { matchKey, type MatchedForm, type OperationWork } from '../workload/workload.ts';
import type { Directive } from './backend.ts';
import type { ConfiguredOperation } from './dumps.ts';

/** Both parts of a `compilation_info`, in the compiler's spelling. */
export interface Rendered {
  readonly lowering: string;
  readonly translation: string;
}

export const compilationInfo = ({ lowering, translation }: Rendered): Directive => ({
  attribute: 'compilation_info',
  value: `#iree_codegen.compilation_info<lowering_config = ${lowering}, translation_info = ${translation}>`,
});

/**
 * The operations of this form with a configuration; none if the configuration has not landed.
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
