// A tuning spec: a transform-dialect module that the compiler reads beside the untouched input, and applies to every
// executable before it chooses configurations.
import { annotating, type Rule } from './rules.ts';

/** A sequence that does nothing: see `tuningSpecFlags`. */
const NOTHING = 'iree_tuned_nothing';

/**
 * Flags that bring a tuning spec to the compiler.
 *
 * The compiler (3.11 to 3.13) reads a spec when it configures the first executable, holding a lock; to verify what it
 * has read it waits for its thread pool, and may begin another executable on the same thread, which then waits for the
 * lock for ever: a program of a dozen executables hung in one compile of ten. Run before there are executables, an
 * interpreter pass that does nothing leaves the spec read.
 */
export function tuningSpecFlags(path: string): string[] {
  const quote = path.includes('"') ? "'" : '"';
  return [
    `--iree-codegen-tuning-spec-path=${path}`,
    `--iree-preprocessing-pass-pipeline=builtin.module(iree-transform-dialect-interpreter{library-file-name=${quote}${path}${quote} entry-point=${NOTHING}})`,
  ];
}

/** Text of a spec that applies rules, the first that matches, to the operations of every executable. */
export function tuningSpec(rules: readonly Rule[]): string {
  const { sequences, pairs } = annotating(rules);
  return `module @iree_tuned_spec attributes {transform.with_named_sequence, iree_codegen.tuning_spec_with_default_entrypoint} {
${sequences}
  transform.named_sequence @${NOTHING}(%root: !transform.any_op {transform.readonly}) {
    transform.yield
  }
  transform.named_sequence @__kernel_config(%root: !transform.any_op {transform.consumed}) -> !transform.any_op attributes {iree_codegen.tuning_spec_entrypoint} {
    %done = transform.foreach_match in %root
${pairs}
      : (!transform.any_op) -> !transform.any_op
    transform.yield %done : !transform.any_op
  }
}
`;
}
