// Compiles a program for a comparison, with limits of time and memory: with the wrapper, or with the real compiler and other flags.
import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { Flag } from '../../compiler/arguments.ts';
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
export interface Variant extends Build {
  readonly name: string;
  /** Flags besides those of the default. */
  readonly flags: readonly string[];
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

const [O3, DATA_TILING] = ['--iree-opt-level=O3', '--iree-opt-data-tiling'];

/** Flags by the names of the tables. */
const VARIANTS = {
  O3: [O3],
  'data tiling': [DATA_TILING],
  'O3, data tiling': [O3, DATA_TILING],
  im2col: ['--iree-global-opt-use-im2col-for-convs'],
} as const;

/** The name of the build without more flags. */
export const DEFAULT = 'default';

/**
 * Compiles a program with the flags of each variant. A failure is a result.
 * @param given the user's flags: a variant of one of them is left out
 * @param compile compiles with more flags into a file
 */
export async function buildVariants(
  given: readonly Pick<Flag, 'name'>[],
  compile: (flags: readonly string[], module: string) => Promise<Build>,
  folder: string,
  onBegin: (name: string) => void = () => undefined,
): Promise<Variant[]> {
  const isGiven = (flag: string) => given.some(({ name }) => flag.split('=')[0] === `--${name}`);
  const variants: Variant[] = [];
  for (const [name, flags] of Object.entries(VARIANTS)) {
    if (flags.some(isGiven)) continue;
    onBegin(name);
    const module = join(folder, `${name}.vmfb`);
    variants.push({ name, flags, module, ...(await compile(flags, module)) });
  }
  return variants;
}
