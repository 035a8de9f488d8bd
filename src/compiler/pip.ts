// Finds the executable behind pip's Python script `iree-compile`, which starts it 110 ms later. It takes a few stats. Only for an unknown
// layout it asks Python.
import { basename, dirname, join } from 'node:path';
import { isExecutableFile, namesIn, realpathOr } from '../system/files.ts';

/** Folder of a pip tool below site-packages, and its Python package. */
export interface PipTool {
  readonly name: string;
  readonly directory: string;
  readonly package: string;
}

/** `iree-compile` of the package iree-base-compiler. */
export const pipCompiler: PipTool = {
  name: 'iree-compile',
  directory: 'iree/compiler/_mlir_libs',
  package: 'iree.compiler._mlir_libs',
};

/** A tool (`iree-benchmark-module`, ...) of the package iree-base-runtime. */
export function pipRuntimeTool(name: string): PipTool {
  return { name, directory: 'iree/_runtime_libs', package: 'iree._runtime_libs' };
}

/** Whether a file's head is a script from pip (or uv, conda, ...) for a tool of IREE. */
export function isPipScript(head: string): boolean {
  // Requires IREE's entry point, so a user's own Python wrapper does not match.
  return head.startsWith('#!') && /^from iree\.(compiler\.tools|_runtime)\b.* import /m.test(head);
}

/** The Python of a script: from its first line, or from the `exec` for long paths. */
export function interpreterOf(head: string): string | null {
  const exec = /^'''exec' (?:"([^"\n]+)"|(\S+)) /m.exec(head);
  if (exec) return exec[1] ?? exec[2] ?? null;
  const line = /^#! *(\S+)(?: +(\S+))?/.exec(head);
  if (!line) return null;
  return basename(line[1]!) === 'env' ? (line[2] ?? null) : line[1]!;
}

/** The executable behind pip's script; null for none. Calls `ask` with the interpreter if the folders are not conclusive. */
export function resolvePipScript(
  script: string,
  head: string,
  tool: PipTool,
  ask: (python: string) => string | null,
): string | null {
  const python = interpreterOf(head);
  const prefixes = [dirname(dirname(realpathOr(script)))];
  // Not its real path: the python of a virtual environment is a link to the outside.
  if (python?.includes('/')) prefixes.push(dirname(dirname(python)));
  for (const prefix of prefixes) {
    const found = installedBelow(prefix, tool);
    if (found.length === 1) return found[0]!;
    if (found.length > 1) {
      const version = python === null ? '' : basename(realpathOr(python));
      const own = found.find((path) => path.includes(`/${version}/`));
      if (own !== undefined) return own;
      break;
    }
  }
  return python === null ? null : ask(python);
}

/** All copies of a tool below one prefix, each real folder once. */
function installedBelow(prefix: string, tool: PipTool): string[] {
  const found: string[] = [];
  const seen = new Set<string>();
  for (const lib of ['lib', 'lib64']) {
    const real = realpathOr(join(prefix, lib));
    if (seen.has(real)) continue;
    seen.add(real);
    for (const python of namesIn(real).filter((name) => /^python3[\d.]*t?$/.test(name))) {
      // Debian's Python calls the directory dist-packages.
      for (const packages of ['site-packages', 'dist-packages']) {
        const path = join(real, python, packages, tool.directory, tool.name);
        if (isExecutableFile(path)) found.push(path);
      }
    }
  }
  return found;
}

/** Asks a Python for the tool's path. It takes as long as a start of Python. */
export function askPython(python: string, tool: PipTool): string | null {
  // Loaded on demand: a hit starts no child.
  const { spawnSync } = process.getBuiltinModule('node:child_process');
  const program =
    'import importlib.util as u, sys; print(*(u.find_spec(sys.argv[1]).submodule_search_locations), sep="\\n")';
  const answer = spawnSync(python, ['-c', program, tool.package], {
    encoding: 'utf8',
    timeout: 10_000,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  if (answer.status !== 0) return null;
  const paths = answer.stdout.split('\n').filter(Boolean);
  return paths.map((path) => join(path, tool.name)).find(isExecutableFile) ?? null;
}
