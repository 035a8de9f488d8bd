// A compiler that remembers candidates, so that a restarted search reaches its finals in seconds. The real compiler compiles the rest.
import { CANDIDATE_ARGUMENTS, CANDIDATES, installScripts } from '../support/scripts.ts';
import { compiler, runtimeTool } from '../support/real-tools.ts';
import { rememberingCompiler } from '../support/remembering-compiler.ts';

/**
 * Writes the compiler below `folder`, in pip's layout, with the runtime's tools.
 * @param options.oneBatch refuses all later batches, so that a search ends soon
 * @returns its path
 */
export function cachedCompiler(folder: string, { oneBatch = false } = {}): string {
  return candidateCompiler(
    folder,
    `${oneBatch ? 'case $source in */batch0* | */finals* | */in-*) ;; *) exit 1 ;; esac' : ''}
exec '${rememberingCompiler}' "$@"`,
  );
}

/**
 * The real tools, but for compiles of candidates a script.
 * @param script has the candidate in `$source` and the module in `$output`
 * @returns path of the compiler
 */
export const candidateCompiler = (folder: string, script: string): string =>
  installScripts(folder, {
    benchmark: `exec '${runtimeTool('iree-benchmark-module')}' "$@"`,
    run: `exec '${runtimeTool('iree-run-module')}' "$@"`,
    compile: `${CANDIDATE_ARGUMENTS}
case $source in ${CANDIDATES}) ;; *) exec '${compiler.executable}' "$@" ;; esac
${script}`,
  });
