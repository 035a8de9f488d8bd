// A preprocessing spec: a transform-dialect module that the compiler applies to the whole program before it optimises.
// It says the same as attributes in the text would, whatever dialect the input is written in.
import { annotating, rulesOf, type Annotation, type Rule } from './rules.ts';

/** Flags that bring a preprocessing spec to the compiler. */
export const preprocessingFlags = (path: string): string[] => [
  `--iree-preprocessing-transform-spec-filename=${path}`,
];

/** Text of a spec that gives attributes to operations by their form, the first annotation of each form, and follows more rules. */
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
