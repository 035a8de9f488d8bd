// Roles of the user's flags: the target's key, flags of candidates, flags that write files.
import type { Flag } from './arguments.ts';

/** Flags that write files besides the output. Our own compiles drop them, because they would overwrite the user's files. */
const WRITING = [
  /^dump-compilation-phases-to$/,
  /^iree-hal-dump-executable-[a-z]+-to$/,
  /^iree-codegen-dump-tuning-specs-to$/,
  /^iree-flow-dump-dispatch-graph(?:-output-file)?$/,
  /^iree-(?:opt-export-parameters|parameter-export|parameter-encoder-output-file)$/,
  /^iree-scheduling-dump-statistics-(?:file|format)$/,
  /^iree-llvmcpu-(?:static-library-output-path|keep-linker-artifacts)$/,
  /^iree-util-hoist-into-globals-print-constexpr-dotgraph-to$/,
  /^mlir-(?:pass-pipeline-(?:crash|local)-reproducer|print-ir-tree-dir)$/,
  /^(?:log|profile)-actions-to$/,
  /^(?:info-output|instrumentor-write-config|module-summary-dot|remarks-output|stack-usage)-file$/,
  /^(?:dot-cfg-dir|dot-cfg-mssa|ir-dump-directory|print-on-crash-path|crash-diagnostics-dir)$/,
  /^(?:attributor-depgraph|callgraph|cfg|mcfg)-dot-filename-prefix$|^dot-ddg-filename-prefix$/,
  /^memprof-(?:dot-file-path-prefix|export-to-dot)$/,
  /^(?:lowertypetests|wholeprogramdevirt)-write-summary$/,
  /^amdgpu-(?:module-splitting-print-(?:module-dotcfg|partition-summaries)|next-use-analysis-dump-distance-as-json)$/,
  /^attributor-dump-dep-graph$/,
];

/** Flags of `WRITING` without a value. */
const WRITING_BARE =
  /^(?:iree-flow-dump-dispatch-graph|iree-llvmcpu-keep-linker-artifacts|mlir-pass-pipeline-local-reproducer|memprof-export-to-dot|attributor-dump-dep-graph)$/;

/** Whether a flag writes files, and whether it takes a value, which may be the next argument; null if it writes none. */
export function writingOf(name: string): 'with a value' | 'bare' | null {
  if (!WRITING.some((pattern) => pattern.test(name))) return null;
  return WRITING_BARE.test(name) ? 'bare' : 'with a value';
}

/** Flags about reading, writing, printing and logging. They never change the code of a dispatch. */
const NEUTRAL = [
  /^o$/,
  /^color$/,
  ...WRITING,
  /^iree-(?:hal|codegen|scheduling)-dump-/,
  /^iree-(?:llvmcpu|vm)-(?:keep|emit)-/,
  /^iree-vm-bytecode-/,
  /^iree-input-/,
  /^iree-llvmcpu-(?:embedded|system)-linker-path$/,
  /^iree-flow-(?:dump|trace|break)-/,
  /^mlir-(?:print|disable-threading|timing|pass-statistics|pretty-debuginfo|elide|use-nameloc)/,
  /^(?:split-input-file|verify-diagnostics|verify|allow-unregistered-dialect|verbose|v)$/,
  /^(?:compile-to|compile-from|compile-mode|output-format)$/,
  /^(?:stats|stats-json|time-passes|debug|debug-only|print-.*|view-.*)$/,
  /^iree-(?:print|dump|trace)/,
  /^iree-parameter-(?:export|splat|encoder)/,
  /^remarks-/,
];

/** Flags that select the target. The target's key has their expanded values. */
const TARGET_SELECTION = [
  /^iree-hal-target-(?:device|backends)$/,
  /^iree-hal-local-target-device-backends$/,
  /^iree-llvmcpu-target-(?:cpu|cpu-features|triple)$/,
  /^iree-(?:cuda|hip|rocm|vulkan|metal)-target(?:-features)?$/,
];

/** The user's own tuning flags. Candidates compile without them. */
const USER_TUNING = [
  /^iree-codegen-tuning-spec-path$/,
  /^iree-codegen-transform-dialect-library$/,
  /^iree-hal-substitute-executable-/,
  /^iree-hal-preprocess-executables-with$/,
];

/** Whether a flag does not affect the code. */
export const isNeutral = ({ name }: Flag): boolean => NEUTRAL.some((pattern) => pattern.test(name));

/** Flags that affect only the output: a compile with them writes the output and prints nothing. */
const ABOUT_OUTPUT =
  /^(?:o|color)$|^iree-(?:codegen|consteval|cuda|dispatch-creation|flow|global-opt|hal|hip|input|llvmcpu|metal|opt|rocm|spirv|stream|vm|vulkan)-/;
const NEUTRAL_OUTPUT = /^(?:o|color)$|^iree-(?:input|vm-bytecode)-/;

/** Whether a compile with these flags surely writes the output only, and no dumps. */
export const givesOnlyOutput = (flags: readonly Flag[]): boolean =>
  flags.every((flag) => ABOUT_OUTPUT.test(flag.name) && (NEUTRAL_OUTPUT.test(flag.name) || !isNeutral(flag)));

const spelled = ({ name, value }: Flag) => (value === null ? `--${name}` : `--${name}=${value}`);
const matches = (flag: Flag, patterns: readonly RegExp[]) => patterns.some((p) => p.test(flag.name));

/** Flags for compiling candidates: the target's selection, and all flags that may change code. */
export function candidateFlags(flags: readonly Flag[]): string[] {
  return flags.filter((flag) => !matches(flag, NEUTRAL) && !matches(flag, USER_TUNING)).map(spelled);
}

/** Flags about reading the input, which are not part of the target's key. */
export const inputFlags = (flags: readonly Flag[]): string[] =>
  flags.filter(({ name }) => isInputFlag(name)).map(spelled);

export const isInputFlag = (name: string): boolean => /^(?:iree-input-|split-input-file$)/.test(name);

/** Flags in the target's key. It includes unknown flags, because a record is valid only where it was measured. */
export function codegenFlags(flags: readonly Flag[]): string[] {
  return flags
    .filter((flag) => ![NEUTRAL, TARGET_SELECTION, USER_TUNING].some((patterns) => matches(flag, patterns)))
    .map(spelled);
}

/** The first tuning flag of the user, which turns our tuning off; null for none. */
export function userTuningFlag(flags: readonly Flag[]): string | null {
  const found = flags.find((flag) => matches(flag, USER_TUNING));
  return found === undefined ? null : `--${found.name}`;
}
