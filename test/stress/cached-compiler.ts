// A compiler that compiles the same candidates only once, so that a search which is killed and begun again gets as far as
// its finals in seconds. Everything else goes to the real one.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { CANDIDATE_ARGUMENTS, CANDIDATES, installScripts } from '../support/scripts.ts';
import { compiler, runtimeTool } from '../support/real-tools.ts';

/**
 * Writes it below `folder`, laid out as pip does, with the runtime's tools where they are looked for.
 * @param options.oneBatch refuses all later batches of a search, which ends soon then, however large its budget is
 * @returns its path
 */
export function cachedCompiler(folder: string, { oneBatch = false } = {}): string {
  const modules = join(folder, 'modules');
  mkdirSync(modules, { recursive: true });
  return installScripts(folder, {
    benchmark: `exec '${runtimeTool('iree-benchmark-module')}' "$@"`,
    run: `exec '${runtimeTool('iree-run-module')}' "$@"`,
    // A shell keeps its children in its group.
    compile: `real='${compiler.executable}'
${CANDIDATE_ARGUMENTS}
case $source in ${CANDIDATES}) ;; *) exec "$real" "$@" ;; esac
${oneBatch ? 'case $source in */batch0* | */finals* | */full.mlir) ;; *) exit 1 ;; esac' : ''}
# A text that is only compiled to a phase is something else.
flags() { for option; do case $option in "$source" | "$output") ;; *) echo "$option" ;; esac; done; }
known='${modules}'/$( { flags "$@"; cat "$source"; } | md5sum | cut -c1-32)
if [ ! -f "$known" ]; then
  "$real" "$@" || exit
  cp "$output" "$known.$$" && mv "$known.$$" "$known"
fi
cp "$known" "$output"`,
  });
}
