// The pass pipeline that the compiler runs on a program before any optimisation.

/** A pass that applies a named sequence of a transform-dialect module. @param path of the module */
export function interpreterPass(path: string, sequence: string): string {
  const quote = path.includes('"') ? "'" : '"';
  return `iree-transform-dialect-interpreter{library-file-name=${quote}${path}${quote} entry-point=${sequence}}`;
}

/** Passes that apply such a sequence and remove unused functions afterwards. */
export const rewritingPasses = (path: string, sequence: string): string =>
  `${interpreterPass(path, sequence)},symbol-dce`;

/** The flag for these passes in order; no flag without passes. */
export const pipelineFlags = (passes: readonly string[]): string[] =>
  passes.length === 0 ? [] : [`--iree-preprocessing-pass-pipeline=builtin.module(${passes.join(',')})`];
