// Shell scripts, and a scripted compiler and runtime in pip's folder layout, so that our programs find the runtime.
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Writes a file with its parent folders. Returns its path. */
export function write(path: string, text: string, mode = 0o644): string {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  chmodSync(path, mode);
  return path;
}

/** Writes a shell script. Returns its path. */
export const program = (path: string, body: string): string => write(path, `#!/bin/sh\n${body}\n`, 0o755);

/** Bodies of shell scripts. */
export interface Scripts {
  readonly compile: string;
  readonly benchmark: string;
  readonly run: string;
}

/**
 * Writes the scripts into `folder`.
 * @returns the path of the compiler
 */
export function installScripts(folder: string, scripts: Scripts): string {
  program(join(folder, 'iree/_runtime_libs/iree-benchmark-module'), scripts.benchmark);
  program(join(folder, 'iree/_runtime_libs/iree-run-module'), scripts.run);
  return program(compilerBelow(folder), scripts.compile);
}

export const compilerBelow = (folder: string) => join(folder, 'iree/compiler/_mlir_libs/iree-compile');

/** Shell text that sets `$source` and `$output` from a command line that ends in `SOURCE -o OUTPUT`, like compiles of candidates. */
export const CANDIDATE_ARGUMENTS = 'for output; do source=$before; before=$option; option=$output; done';

/** Shell pattern of paths of candidate modules. */
export const CANDIDATES = '*/work/tuning-*';
