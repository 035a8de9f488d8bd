// A tuning spec: a transform-dialect module that the compiler applies to every executable before it chooses configurations. The
// input stays unchanged.
import { interpreterPass, pipelineFlags } from './pipeline.ts';
import { annotating, type Rule } from './rules.ts';

/**
 * The compiler's flag for a tuning spec: `tuning-spec` is `--iree-codegen-tuning-spec-path`, `library` is
 * `--iree-codegen-transform-dialect-library`. Some backends silently ignore the first flag, so each backend names its flag.
 */
export type SpecFlag = 'tuning-spec' | 'library';

/** A sequence that does nothing: see `tuningSpecFlags`. */
const NOTHING = 'iree_tuned_nothing';

/**
 * Flags that load a tuning spec.
 *
 * The compiler (3.11 to 3.13) reads a spec under a lock when it configures the first executable. The verifier then waits for the
 * thread pool, which may start another executable on the same thread. That executable waits for the lock forever: one of ten
 * compiles of a dozen executables hung. An interpreter pass that does nothing loads the spec earlier, before any executable.
 * @param passes to run before, because the compiler takes only one pipeline
 */
export const tuningSpecFlags = (
  path: string,
  passes: readonly string[] = [],
  flag: SpecFlag = 'tuning-spec',
): string[] => [
  `--iree-codegen-${flag === 'library' ? 'transform-dialect-library' : 'tuning-spec-path'}=${path}`,
  ...pipelineFlags([...passes, interpreterPass(path, NOTHING)]),
];

/** Text of a spec that applies the first matching rule to each operation of every executable. */
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
