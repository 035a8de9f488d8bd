// A compiler that compiles the same candidates only once, so that a search which is killed and begun again gets as far as
// its finals in seconds. Everything else goes to the real one.
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { compiler, runtimeTool } from '../support/real-tools.ts';

/**
 * Writes it below `folder`, laid out as pip does, with the runtime's tools where they are looked for.
 * @returns its path
 */
export function cachedCompiler(folder: string): string {
  const path = join(folder, 'iree', 'compiler', '_mlir_libs', 'iree-compile');
  const libraries = join(folder, 'iree', '_runtime_libs');
  const modules = join(folder, 'modules');
  for (const directory of [dirname(path), libraries, modules]) mkdirSync(directory, { recursive: true });
  const script = (at: string, body: string) => {
    writeFileSync(at, `#!/bin/sh\n${body}\n`);
    chmodSync(at, 0o755);
  };
  for (const tool of ['iree-benchmark-module', 'iree-run-module'])
    script(join(libraries, tool), `exec '${runtimeTool(tool)}' "$@"`);
  // Candidates are compiled as `... SOURCE -o MODULE`, from a folder of ours. A shell keeps its children in its group.
  script(
    path,
    `real='${compiler.executable}'
for last; do source=$before; before=$option; option=$last; done
case $source in */work/tuning-*) ;; *) exec "$real" "$@" ;; esac
known='${modules}'/$(md5sum <"$source" | cut -c1-32)
if [ ! -f "$known" ]; then
  "$real" "$@" || exit
  cp "$last" "$known.$$" && mv "$known.$$" "$known"
fi
cp "$known" "$last"`,
  );
  return path;
}
