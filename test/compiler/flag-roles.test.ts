import { execa } from 'execa';
import { describe, expect, test } from 'vitest';
import { readArguments } from '../../src/compiler/arguments.ts';
import {
  candidateFlags,
  codegenFlags,
  givesOnlyOutput,
  userTuningFlag,
  writingOf,
} from '../../src/compiler/flag-roles.ts';
import { tableOf } from '../../src/compiler/options.ts';

describe('flags', () => {
  const table = tableOf(
    [],
    ['o', 'iree-opt-level', 'iree-hal-target-device', 'iree-hal-dump-executable-sources-to'],
  );
  const read = (...argv: string[]) => readArguments(argv, table).flags;
  test('about outputs only have no role', () => {
    const flags = read('-o', 'x', '--iree-hal-dump-executable-sources-to=d', '--mlir-print-debuginfo');
    expect([candidateFlags(flags), codegenFlags(flags)]).toEqual([[], []]);
  });
  test('that select the target are for candidates, and not in the key', () => {
    const flags = read('--iree-hal-target-device', 'local', '--iree-llvmcpu-target-cpu=host');
    expect(candidateFlags(flags)).toEqual([
      '--iree-hal-target-device=local',
      '--iree-llvmcpu-target-cpu=host',
    ]);
    expect(codegenFlags(flags)).toEqual([]);
  });
  test('that select a GPU are not in the key, because the expanded target has it', () => {
    const flags = ['cuda', 'hip', 'rocm', 'vulkan', 'metal'].map((name) => `--iree-${name}-target=x`);
    expect(candidateFlags(read(...flags))).toEqual(flags);
    expect(codegenFlags(read(...flags, '--iree-rocm-target-features=+a'))).toEqual([]);
    expect(codegenFlags(read('--iree-rocm-waves-per-eu=2'))).toEqual(['--iree-rocm-waves-per-eu=2']);
  });
  test('that select an ABI are in the key, because the expanded target lacks it', () => {
    expect(codegenFlags(read('--iree-llvmcpu-target-abi=lp64d'))).toEqual([
      '--iree-llvmcpu-target-abi=lp64d',
    ]);
  });
  test('that may change code are in both, known or not', () => {
    const flags = read('--iree-opt-level=O2', '--iree-brand-new');
    expect(codegenFlags(flags)).toEqual(['--iree-opt-level=O2', '--iree-brand-new']);
    expect(candidateFlags(flags)).toEqual(codegenFlags(flags));
  });
  test("of the user's own tuning are detected", () => {
    expect(userTuningFlag(read('--iree-opt-level=O2'))).toBeNull();
    expect(userTuningFlag(read('--iree-codegen-tuning-spec-path=x'))).toBe('--iree-codegen-tuning-spec-path');
  });
  test('that may write more than the output are detected, and so are unknown flags', () => {
    const plain = [
      '-o',
      'x',
      '--iree-opt-level=O2',
      '--iree-input-type=stablehlo',
      '--iree-llvmcpu-target-cpu=host',
    ];
    expect(givesOnlyOutput(read(...plain))).toBe(true);
    const others = [
      '--iree-hal-dump-executable-sources-to=d',
      '--iree-opt-export-parameters=model=x.irpa',
      '--iree-llvmcpu-keep-linker-artifacts',
      '--mlir-timing',
      '--dump-compilation-phases-to=d',
      '--brand-new',
    ];
    for (const flag of others) expect([flag, givesOnlyOutput(read(...plain, flag))]).toEqual([flag, false]);
  });
});

/** Names that sound like output files, and are none. */
const NOT_WRITING = [
  ...['compile-to', 'emit-mlir-bytecode', 'emit-mlir-bytecode-version', 'filter-save-modules'],
  ...['iree-flow-export-benchmark-funcs', 'iree-parameter-export-minimum-size', 'iree-rocm-bc-dir'],
  ...['constraint-elimination-dump-reproducers', 'instrumentor-read-config-files'],
  ...['instrumentor-read-config-paths-file', 'print-on-crash'],
  ...['iree-vm-c-module-output-format', 'print-changed-dot-path', 'summary-file'],
];

test('that write files are all known', { tags: ['compiler'] }, async () => {
  const { compiler } = await import('../support/installed-tools.ts');
  const { stdout } = await execa(compiler.executable, ['--help-hidden']);
  const flags = [...stdout.matchAll(/^ *--([\w-]+)\S* +- (.*)$/gm)];
  expect(flags.length).toBeGreaterThan(1000);
  const suspects = flags.filter(
    ([, name, about]) =>
      /(?:^|-)(?:to|dir|directory)$|export|(?:output|dot|summary|usage|config)-(?:file|path)|reproducer|dotgraph|save-/.test(
        name!,
      ) ||
      /\bto (?:a|the given|an?) (?:\S+ )?(?:file|directory|archive)\b|dot files|[Ff]ile to (?:append|emit|write)/.test(
        about!,
      ),
  );
  const unknown = suspects.flatMap(([, name]) => (writingOf(name!) === null ? [name!] : []));
  expect(unknown.filter((name) => !NOT_WRITING.includes(name))).toEqual([]);
  // Whether the value may be the next argument.
  for (const [line, name] of flags)
    if (writingOf(name!) !== null)
      expect([name, line.includes('=')]).toEqual([name, writingOf(name!) === 'with a value']);
});
