// Compiles a program for a comparison, with limits of time and memory.
import { statSync } from 'node:fs';
import { withTrailingFlags } from '../../compiler/command.ts';
import { runTool, type ToolResult } from '../../measure/toolchain.ts';
import type { Explanation } from '../../report/explain.ts';
import { readJson } from '../../system/files.ts';

/** One run of a compiler. */
export interface Build {
  /** Wall time. */
  readonly seconds: number;
  /** Message of the failed compiler, or the exceeded limit; null for success. */
  readonly error: string | null;
}

/** A build with its module. */
export interface NamedBuild extends Build {
  readonly name: string;
  /** Path of the module, which exists if the build succeeded. */
  readonly module: string;
}

/** A compile to run. */
export interface Compiling {
  /** The real compiler, or the wrapper. */
  readonly compiler: string;
  /** Input and flags. Flags that write files are dropped. */
  readonly argv: readonly string[];
  /** Variables that differ from this process's. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Limit of the wall time. */
  readonly limitSeconds: number;
}

/** Compiles into the file `module`. A failure is a result. No process of the compile gets more than half of the memory. */
export async function build(
  { compiler, argv, env = {}, limitSeconds }: Compiling,
  module: string,
): Promise<Build> {
  const started = performance.now();
  const all = withTrailingFlags(argv, ['-o', module]);
  const result = await runTool(compiler, all, limitSeconds, new AbortController().signal, { env });
  const seconds = (performance.now() - started) / 1000;
  // The compiler can exit with 0 and write only a crash reproducer.
  const isThere = result.ok && statSync(module, { throwIfNoEntry: false }) !== undefined;
  return { seconds, error: isThere ? null : whyFailed(result, limitSeconds) };
}

const OUT_OF_MEMORY = /out of memory|bad_alloc|cannot allocate memory/i;

function whyFailed({ ok, timedOut, stderr, ending }: ToolResult, limitSeconds: number): string {
  if (ok) return 'the compiler wrote no module';
  if (timedOut) return `it takes more than ${Math.round(limitSeconds)} s`;
  if (OUT_OF_MEMORY.test(stderr)) return "it takes more than half of this machine's memory";
  const lines = stderr.trimEnd().split('\n');
  return lines.find((line) => /error:/i.test(line)) ?? (lines.at(-1) || ending);
}

/** A build with the wrapper. */
export interface TunedBuild extends Build {
  /** The wrapper's explain JSON; null if there is none. */
  readonly explanation: Explanation | null;
}

/** Compiles with the wrapper, which tunes. */
export async function buildTuned(compiling: Compiling, module: string): Promise<TunedBuild> {
  const explain = `${module}.json`;
  const env = { ...compiling.env, IREE_TUNED_EXPLAIN: explain };
  const built = await build({ ...compiling, env }, module);
  return { ...built, explanation: (readJson(explain) ?? null) as Explanation | null };
}
