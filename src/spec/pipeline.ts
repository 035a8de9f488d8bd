// The pass pipeline that the compiler runs on a program before it optimises anything.

/** A pass that applies a sequence of a transform-dialect module in a file. */
export function interpreterPass(path: string, sequence: string): string {
  const quote = path.includes('"') ? "'" : '"';
  return `iree-transform-dialect-interpreter{library-file-name=${quote}${path}${quote} entry-point=${sequence}}`;
}

/** Passes that put functions of such a module into the program, and take away those that are left. */
export const rewritingPasses = (path: string, sequence: string): string =>
  `${interpreterPass(path, sequence)},symbol-dce`;

/** The flag that runs passes in this order; none for no passes. */
export const pipelineFlags = (passes: readonly string[]): string[] =>
  passes.length === 0 ? [] : [`--iree-preprocessing-pass-pipeline=builtin.module(${passes.join(',')})`];
