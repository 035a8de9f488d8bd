// A compiler and a runtime of scripts, laid out as pip does, so that each is found from the other.
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Bodies of shell scripts. */
export interface Scripts {
  readonly compile: string;
  readonly benchmark: string;
  readonly run: string;
}

/**
 * Writes them below `folder`.
 * @returns the path of the compiler
 */
export function installScripts(folder: string, scripts: Scripts): string {
  const write = (path: string, body: string) => {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, `#!/bin/sh\n${body}\n`);
    chmodSync(path, 0o755);
    return path;
  };
  write(join(folder, 'iree/_runtime_libs/iree-benchmark-module'), scripts.benchmark);
  write(join(folder, 'iree/_runtime_libs/iree-run-module'), scripts.run);
  return write(compilerBelow(folder), scripts.compile);
}

export const compilerBelow = (folder: string) => join(folder, 'iree/compiler/_mlir_libs/iree-compile');

/** Shell: `$source` and `$output` of a command line that ends in `SOURCE -o OUTPUT`, as candidates are compiled. */
export const CANDIDATE_ARGUMENTS = 'for output; do source=$before; before=$option; option=$output; done';

/** Shell pattern of a candidate module's text. Everything else that is compiled is the user's, or asked about it. */
export const CANDIDATES = '*/work/tuning-*';
