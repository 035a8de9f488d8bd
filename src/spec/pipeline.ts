// The pass pipeline that the compiler runs on a program before it optimises anything.

/** A pass that applies a sequence of a transform-dialect module in a file. */
export function interpreterPass(path: string, sequence: string): string {
  const quote = path.includes('"') ? "'" : '"';
  return `iree-transform-dialect-interpreter{library-file-name=${quote}${path}${quote} entry-point=${sequence}}`;
}

/** The flag that runs passes in this order; none for no passes. */
export const pipelineFlags = (passes: readonly string[]): string[] =>
  passes.length === 0 ? [] : [`--iree-preprocessing-pass-pipeline=builtin.module(${passes.join(',')})`];
