// A compiler that compiles the same candidates only once, so that a search which is killed and begun again gets as far as
// its finals in seconds. Everything else goes to the real one.
import { CANDIDATE_ARGUMENTS, CANDIDATES, installScripts } from '../support/scripts.ts';
import { compiler, runtimeTool } from '../support/real-tools.ts';
import { rememberingCompiler } from '../support/remembering-compiler.ts';

/**
 * Writes it below `folder`, laid out as pip does, with the runtime's tools where they are looked for.
 * @param options.oneBatch refuses all later batches of a search, which ends soon then, however large its budget is
 * @returns its path
 */
export function cachedCompiler(folder: string, { oneBatch = false } = {}): string {
  return installScripts(folder, {
    benchmark: `exec '${runtimeTool('iree-benchmark-module')}' "$@"`,
    run: `exec '${runtimeTool('iree-run-module')}' "$@"`,
    compile: `${CANDIDATE_ARGUMENTS}
case $source in ${CANDIDATES}) ;; *) exec '${compiler.executable}' "$@" ;; esac
${oneBatch ? 'case $source in */batch0* | */finals* | */in-*) ;; *) exit 1 ;; esac' : ''}
exec '${rememberingCompiler}' "$@"`,
  });
}
