// A tuning spec: a transform-dialect module that the compiler reads beside the untouched input, and applies to every
// executable before it chooses configurations.
import { interpreterPass, pipelineFlags } from './pipeline.ts';
import { annotating, type Rule } from './rules.ts';

/**
 * The flag that brings a tuning spec to code generation: `tuning-spec` is `--iree-codegen-tuning-spec-path`, `library` is
 * `--iree-codegen-transform-dialect-library`. Backends whose pipelines are built without the first one ignore it silently.
 */
export type SpecFlag = 'tuning-spec' | 'library';

/** A sequence that does nothing: see `tuningSpecFlags`. */
const NOTHING = 'iree_tuned_nothing';

/**
 * Flags that bring a tuning spec to the compiler.
 *
 * The compiler (3.11 to 3.13) reads a spec under a lock, when it configures the first executable. To verify the spec it
 * waits for its thread pool, and may begin another executable on the same thread. That executable waits for the lock for
 * ever: a program of a dozen executables hung in one compile of ten. An interpreter pass that does nothing makes the
 * compiler read the spec before there are executables.
 * @param passes that run before it: the compiler takes one pipeline
 */
export const tuningSpecFlags = (
  path: string,
  passes: readonly string[] = [],
  flag: SpecFlag = 'tuning-spec',
): string[] => [
  `--iree-codegen-${flag === 'library' ? 'transform-dialect-library' : 'tuning-spec-path'}=${path}`,
  ...pipelineFlags([...passes, interpreterPass(path, NOTHING)]),
];

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
