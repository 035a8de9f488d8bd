// A preprocessing spec: a transform-dialect module that the compiler applies to the whole program before it optimises.
// It says the same as attributes in the text would, whatever dialect the input is written in.
import type { Configuration } from '../space/configuration.ts';
import { compilationInfo, type Release } from '../space/render.ts';
import type { OperationWorkload } from '../workload/from-operation.ts';
import { annotating, rulesOf, type Annotation, type Rule, type SpecForm } from './matcher.ts';

/** The unit attribute that asks for an operation to be data-tiled. */
export const DATA_TILING_HINT = 'iree.opt.data_tiling';

/**
 * Without the flag, hints do nothing. Of the compiler's two ways this one packs in dispatches of their own, which is
 * how candidates are measured; the other one fuses packing into whatever makes the operand, which can be ten times slower.
 */
export const DATA_TILING_FLAG = '--iree-global-opt-data-tiling';

/** Flags that bring a preprocessing spec to the compiler. */
export const preprocessingFlags = (path: string, dataTiling: boolean): string[] => [
  `--iree-preprocessing-transform-spec-filename=${path}`,
  ...(dataTiling ? [DATA_TILING_FLAG] : []),
];

/** What an operation is matched by before anything is optimised: its loops in the order in which it is written. */
export const writtenForm = ({ workload, writtenLoops }: OperationWorkload): SpecForm => ({
  workload,
  loops: writtenLoops,
});

/** What the operations of one form get, as they are written. */
export interface PreprocessEntry {
  readonly written: OperationWorkload;
  readonly configuration: Configuration;
}

/**
 * Text of a spec that configures operations. Entries for the same form must not contradict.
 * @param options.dataTileOnlyWhereAsked keep the data-tiling flag from operations that no entry names
 */
export function preprocessingSpec(
  entries: readonly PreprocessEntry[],
  release: Release,
  options: { readonly dataTileOnlyWhereAsked: boolean },
): string {
  const annotations = entries.flatMap(({ written, configuration }): Annotation[] => {
    const form = writtenForm(written);
    switch (configuration.kind) {
      case 'default':
        return [];
      case 'tile': {
        const value = compilationInfo(configuration, written.loops, release);
        return [{ form, attribute: 'compilation_info', value }];
      }
      case 'data-tile':
        return [{ form, attribute: DATA_TILING_HINT, value: 'unit' }];
    }
  });
  return annotationSpec(annotations, options.dataTileOnlyWhereAsked ? [HINT_ON_END] : []);
}

/**
 * As soon as anything in a function has the hint, the compiler adds none of its own there. On the function's end it
 * asks for nothing, and leaves the code as it is without data tiling.
 */
const HINT_ON_END: Rule = {
  attribute: DATA_TILING_HINT,
  matcher: (
    name,
  ) => `  transform.named_sequence @${name}(%op: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.match.operation_name %op ["util.return"] : !transform.any_op
    %value = transform.param.constant unit -> !transform.any_param
    transform.yield %op, %value : !transform.any_op, !transform.any_param
  }`,
};

/** Text of a spec that gives attributes to operations by their form, the first annotation of each form. */
export function annotationSpec(annotations: readonly Annotation[], more: readonly Rule[] = []): string {
  const { sequences, pairs } = annotating([...rulesOf(annotations), ...more]);
  return `module @iree_tuned_preprocessing attributes {transform.with_named_sequence} {
${sequences}
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.consumed}) {
    transform.foreach_match in %root
${pairs}
      : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}
`;
}
