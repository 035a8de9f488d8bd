// pip installs `iree-compile` as a Python script that starts the real executable inside site-packages, about
// 110 ms later than starting that executable oneself. This finds the executable the way the script would,
// with a few stats; only when the layout is unknown is Python asked.
import { readdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { isExecutableFile, realpathOr } from '../system/files.ts';

/** Where a tool of the pip packages lives below site-packages, and the Python package that knows it. */
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

/** Whether a file that begins so is a script made by pip (or uv, conda, ...) for one of IREE's tools. */
export function isPipScript(head: string): boolean {
  // A person's own Python wrapper must not be jumped over: only what imports IREE's own entry point counts.
  return head.startsWith('#!') && /^from iree\.(compiler\.tools|_runtime)\b.* import /m.test(head);
}

/** The Python that runs such a script: the name in its first line, or in the `exec` that long paths need. */
export function interpreterOf(head: string): string | null {
  const exec = /^'''exec' (?:"([^"\n]+)"|(\S+)) /m.exec(head);
  if (exec) return exec[1] ?? exec[2] ?? null;
  const line = /^#! *(\S+)(?: +(\S+))?/.exec(head);
  if (!line) return null;
  return basename(line[1]!) === 'env' ? (line[2] ?? null) : line[1]!;
}

/**
 * The executable behind pip's script `script`, or `null` when the directories do not tell. `ask` is given the
 * interpreter when they do not, or when several Python versions share them.
 */
export function resolvePipScript(
  script: string,
  head: string,
  tool: PipTool,
  ask: (python: string) => string | null,
): string | null {
  const python = interpreterOf(head);
  const prefixes = [dirname(dirname(realpathOr(script)))];
  // A virtual environment's python is a link out of it: its own directory counts, not the link's target.
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

/** Every copy of the tool in the site-packages directories of one prefix, by real directory. */
function installedBelow(prefix: string, tool: PipTool): string[] {
  const found: string[] = [];
  const seen = new Set<string>();
  for (const lib of ['lib', 'lib64']) {
    const real = realpathOr(join(prefix, lib));
    if (seen.has(real)) continue;
    seen.add(real);
    for (const python of pythonDirectories(real)) {
      // Debian's Python calls the directory dist-packages.
      for (const packages of ['site-packages', 'dist-packages']) {
        const path = join(real, python, packages, tool.directory, tool.name);
        if (isExecutableFile(path)) found.push(path);
      }
    }
  }
  return found;
}

function pythonDirectories(lib: string): string[] {
  try {
    return readdirSync(lib).filter((name) => /^python3[\d.]*t?$/.test(name));
  } catch {
    return [];
  }
}

/** Asks a Python where the tool is. Takes as long as starting Python; the answer is worth caching. */
export function askPython(python: string, tool: PipTool): string | null {
  // Taken on demand: the usual way never starts a process.
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
