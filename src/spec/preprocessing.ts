// A preprocessing spec: a transform-dialect module that the compiler applies to the whole program before any optimisation. It has
// the effect of attributes in the text, for input of any dialect.
import { annotating, rulesOf, type Annotation, type Rule } from './rules.ts';

export const preprocessingFlags = (path: string): string[] => [
  `--iree-preprocessing-transform-spec-filename=${path}`,
];

/** Text of a spec with annotations, the first for each form, and with more rules. */
export function preprocessingSpec(annotations: readonly Annotation[], more: readonly Rule[] = []): string {
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
