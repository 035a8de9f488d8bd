// Roles of the user's flags: the target's key, flags of candidates, flags that write files.
import type { Flag } from './arguments.ts';

/**
 * - `writing`: writes files besides the output, or opens a viewer. Our own compiles drop it, because they would overwrite the user's files
 * - `reporting`: prints a report of this compile
 * - `quiet`: about reading the input, and printing or packing the output. It never changes the code of a dispatch
 * - `target`: selects the target. The target's key has its expanded value
 * - `tuning`: the user's own tuning. Candidates compile without it
 * - `code`: may change the code, and writes nothing
 * - `unknown`: may change the code, and may write a file
 */
export type Role = 'writing' | 'reporting' | 'quiet' | 'target' | 'tuning' | 'code' | 'unknown';

/** Flags of `writing` without a value. */
const WRITING_BARE =
  /^(?:iree-flow-dump-dispatch-graph|iree-llvmcpu-keep-linker-artifacts|mlir-pass-pipeline-local-reproducer|memprof-export-to-dot|attributor-dump-dep-graph|attributor-view-dep-graph|view-(?:edge-bundles|slp-tree)|pgo-view-block-coverage-graph|x86-lvi-load-dot(?:-only)?|print-changed)$/;

const WRITING = [
  WRITING_BARE,
  /^dump-compilation-phases-to$/,
  /^iree-hal-dump-executable-[a-z]+-to$/,
  /^iree-codegen-dump-tuning-specs-to$/,
  /^iree-flow-dump-dispatch-graph-output-file$/,
  /^iree-(?:opt|parameter)-(?:export|splat)(?:-parameters)?$|^iree-parameter-encoder-output-file$/,
  /^iree-scheduling-dump-statistics-(?:file|format)$/,
  /^iree-llvmcpu-static-library-output-path$/,
  /^iree-util-hoist-into-globals-print-constexpr-dotgraph-to$/,
  /^iree-vm-bytecode-source-listing$/,
  /^mlir-(?:pass-pipeline-crash-reproducer|print-ir-tree-dir)$/,
  /^(?:log|profile)-actions-to$/,
  /^view-(?:machine-)?block-.*|^pgo-view-(?:raw-)?counts$/,
  /^(?:info-output|remarks-output)-file$/,
  /^(?:dot-cfg-dir|ir-dump-directory|print-on-crash-path|crash-diagnostics-dir)$/,
];

/** Whether a flag writes files, and whether it takes a value, which may be the next argument; null if it writes none. */
export function writingOf(name: string): 'with a value' | 'bare' | null {
  if (!WRITING.some((pattern) => pattern.test(name))) return null;
  return WRITING_BARE.test(name) ? 'bare' : 'with a value';
}

/** Flags with a text that names no file to write. Every other flag with a text may write one. */
const HARMLESS_TEXT = [
  /^(?:o|compile-(?:to|from|mode)|output-format)$/,
  /^iree-(?:opt|global-optimization-opt|dispatch-creation-opt|llvmcpu-mlir-opt)-level$/,
  /^iree-(?:input-type|plugin|load-plugin|link-bitcode|gpu-test-target|consteval-jit-target-device)$/,
  /^iree-opt-import-parameters?(?:-keys|-maximum-size)?$|^iree-parameter-(?:import(?:-keys)?|encoder-output-scope)$/,
  /^iree-preprocessing-(?:pass-pipeline|pdl-spec-filename|transform-spec-filename)$/,
  /^iree-codegen-(?:debug-patched-func-ops-file-name|transform-dialect-library|tuning-spec-path)$/,
  /^iree-flow-(?:break|trace)-dispatch$/,
  /^iree-hal-(?:target-device|target-backends|default-device|local-(?:host|target)-device-backends)$/,
  /^iree-hal-(?:executable-object-search-path|instrument-dispatches|preprocess-executables-with)$/,
  /^iree-hal-substitute-executable-(?:source|configuration|object)(?:s-from)?$/,
  /^iree-llvmcpu-(?:(?:embedded|system|wasm)-linker-path|enable-(?:llvm-)?ukernels)$/,
  /^iree-llvmcpu-(?:target-(?:abi|cpu|cpu-features|data-layout|triple)|vscale-range|stack-allocation-limit)$/,
  /^iree-cuda-(?:target|target-features|use-ptxas-from)$/,
  /^iree-(?:hip|rocm)-(?:target|target-features|bc-dir|enable-ukernels|encoding-layout-resolver)$/,
  /^iree-(?:vulkan|metal)-target(?:-features|-env|-triple)?$/,
  /^(?:mlir-print-ir|print)-(?:before|after)$|^(?:filter-print-funcs|debug-only|remarks-filter)$/,
  /^pass-remarks(?:-analysis|-missed)?$/,
];

/** Passes that write files, or run a command. */
const WRITING_PASS = /dump-|io-export|archive|executables-with-tool|serialize-|view-op/;

/** Values that cannot be the name of a file. */
const NO_NAME = /^(?:|-?[\d.]+|true|false)$/i;

/** Whether a flag may name a file to write: only its value could, and the compiler does not list its values. */
function mayNameFile({ name, value, kind }: Flag): boolean {
  if (value === null || kind === 'choice' || NO_NAME.test(value)) return false;
  if (name === 'iree-preprocessing-pass-pipeline') return WRITING_PASS.test(value);
  return !HARMLESS_TEXT.some((pattern) => pattern.test(name));
}

const ROLES: readonly (readonly [Role, readonly RegExp[]])[] = [
  [
    'reporting',
    [
      /^iree-(?:hal|codegen|scheduling)-dump-/,
      /^iree-(?:print|dump|trace)|^iree-flow-(?:dump|trace|break)-/,
      /^mlir-(?:print-ir-|timing|pass-statistics)/,
      /^(?:stats|stats-json|time-passes|debug|debug-only|verify-diagnostics|print-.*)$/,
      /^remarks-/,
    ],
  ],
  [
    'quiet',
    [
      /^(?:o|color|v|verbose|verify|split-input-file|allow-unregistered-dialect)$/,
      /^(?:compile-to|compile-from|compile-mode|output-format)$/,
      /^iree-input-/,
      /^iree-vm-(?:bytecode|keep|emit)-|^iree-llvmcpu-(?:keep|emit)-/,
      /^iree-parameter-(?:export|encoder)/,
      /^iree-llvmcpu-(?:embedded|system)-linker-path$/,
      /^mlir-(?:print|disable-threading|pretty-debuginfo|elide|use-nameloc)/,
    ],
  ],
  [
    'target',
    [
      /^iree-hal-target-(?:device|backends)$/,
      /^iree-hal-local-target-device-backends$/,
      /^iree-llvmcpu-target-(?:cpu|cpu-features|triple)$/,
      /^iree-(?:cuda|hip|rocm|vulkan|metal)-target(?:-features)?$/,
    ],
  ],
  [
    'tuning',
    [
      /^iree-codegen-tuning-spec-path$/,
      /^iree-codegen-transform-dialect-library$/,
      /^iree-hal-substitute-executable-/,
      /^iree-hal-preprocess-executables-with$/,
    ],
  ],
];

export function roleOf(flag: Flag): Role {
  const { name } = flag;
  if (writingOf(name) !== null) return 'writing';
  if (mayNameFile(flag)) return 'unknown';
  return ROLES.find(([, patterns]) => patterns.some((pattern) => pattern.test(name)))?.[0] ?? 'code';
}

const spelled = ({ name, value }: Flag) => (value === null ? `--${name}` : `--${name}=${value}`);

const spelledWith = (flags: readonly Flag[], roles: readonly Role[]): string[] =>
  flags.filter((flag) => roles.includes(roleOf(flag))).map(spelled);

/** Whether a compile with these flags writes the output only, and reports nothing. */
export const givesOnlyOutput = (flags: readonly Flag[]): boolean =>
  flags.every((flag) => ['quiet', 'target', 'code'].includes(roleOf(flag)));

/** Flags for compiling candidates: the target's selection, and all flags that may change code. */
export const candidateFlags = (flags: readonly Flag[]): string[] => spelledWith(flags, ['target', 'code']);

/** Flags about reading the input, which are not part of the target's key. */
export const inputFlags = (flags: readonly Flag[]): string[] =>
  flags.filter(({ name }) => isInputFlag(name)).map(spelled);

export const isInputFlag = (name: string): boolean => /^(?:iree-input-|split-input-file$)/.test(name);

/** Flags in the target's key, because a record is valid only where it was measured. */
export const codegenFlags = (flags: readonly Flag[]): string[] => spelledWith(flags, ['code', 'unknown']);

/** The first flag of this role; null for none. */
export function firstOf(role: Role, flags: readonly Flag[]): string | null {
  const found = flags.find((flag) => roleOf(flag) === role);
  return found === undefined ? null : `--${found.name}`;
}
