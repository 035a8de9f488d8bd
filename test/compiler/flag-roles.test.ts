import { execa } from 'execa';
import { describe, expect, test } from 'vitest';
import { readArguments } from '../../src/compiler/arguments.ts';
import {
  candidateFlags,
  codegenFlags,
  firstOf,
  givesOnlyOutput,
  roleOf,
  writingOf,
} from '../../src/compiler/flag-roles.ts';
import { parseHelp, tableOf } from '../../src/compiler/options.ts';
import { whyUntouched } from '../../src/compiler/untouched.ts';

describe('flags', () => {
  const table = tableOf(
    [
      ...['iree-brand-new', 'brand-new', 'mlir-timing', 'mlir-print-debuginfo'],
      'iree-llvmcpu-keep-linker-artifacts',
    ],
    [
      ...['o', 'iree-opt-level', 'iree-hal-target-device', 'iree-hal-dump-executable-sources-to'],
      'iree-execution-model',
    ],
    ['iree-execution-model'],
  );
  const read = (...argv: string[]) => readArguments(argv, table).flags;
  const gpus = ['cuda', 'hip', 'rocm', 'vulkan', 'metal'].map((name) => `--iree-${name}-target=x`);
  test.each([
    ['about outputs only are in neither', ['-o=x', '--iree-hal-dump-executable-sources-to=d'], false, false],
    ['about outputs only are in neither', ['--mlir-print-debuginfo'], false, false],
    [
      'that select the target are for candidates',
      ['--iree-hal-target-device=local', '--iree-llvmcpu-target-cpu=host'],
      true,
      false,
    ],
    ['that select a GPU are not in the key, because the expanded target has it', gpus, true, false],
    ['that select features of a GPU, too', ['--iree-rocm-target-features=+a'], true, false],
    ['that change code of a GPU are in both', ['--iree-rocm-waves-per-eu=2'], true, true],
    [
      'that select an ABI are in the key, because the expanded target lacks it',
      ['--iree-llvmcpu-target-abi=lp64d'],
      true,
      true,
    ],
    [
      'that may change code are in both, known or not',
      ['--iree-opt-level=O2', '--iree-brand-new'],
      true,
      true,
    ],
  ])('%s: %s', (_, flags, isForCandidates, isInKey) => {
    expect(candidateFlags(read(...flags))).toEqual(isForCandidates ? flags : []);
    expect(codegenFlags(read(...flags))).toEqual(isInKey ? flags : []);
  });
  test("of the user's own tuning are detected", () => {
    expect(firstOf('tuning', read('--iree-opt-level=O2'))).toBeNull();
    expect(firstOf('tuning', read('--iree-codegen-tuning-spec-path=x'))).toBe(
      '--iree-codegen-tuning-spec-path',
    );
  });
  const plain = [
    ...['-o', 'x', '--iree-opt-level=O2', '--iree-input-type=stablehlo', '--iree-llvmcpu-target-cpu=host'],
    ...['--iree-llvmcpu-embedded-linker-path=/bin/lld', '--mlir-print-debuginfo', '--iree-brand-new=false'],
    ...['--mlir-print-op-on-diagnostic=false', '--iree-brand-new', '--iree-brand-new-size=8', '--brand-new'],
    ...['--iree-execution-model=async-internal', '--iree-parameter-import=model=a.irpa'],
    '--iree-preprocessing-pass-pipeline=builtin.module(iree-preprocessing-generalize-linalg-matmul-experimental)',
  ];
  test('without a text of unknown meaning write the output only', () => {
    expect(givesOnlyOutput(read(...plain))).toBe(true);
    expect(whyUntouched(readArguments([...plain, 'in.mlir'], table))).toBeNull();
  });
  test.each([
    ['writing', '--iree-hal-dump-executable-sources-to=d'],
    ['writing', '--iree-opt-export-parameters=model=x.irpa'],
    ['writing', '--iree-opt-splat-parameters=x.irpa'],
    ['writing', '--iree-parameter-splat=x.irpa'],
    ['writing', '--iree-vm-bytecode-source-listing=x.txt'],
    ['writing', '--iree-llvmcpu-keep-linker-artifacts'],
    ['writing', '--dump-compilation-phases-to=d'],
    ['reporting', '--mlir-timing'],
    ['unknown', '--iree-opt-brand-new=x.irpa'],
    ['unknown', '--plugin-option=x'],
    ['unknown', '--iree-preprocessing-pass-pipeline=builtin.module(iree-util-dump-module{path=x.mlir})'],
  ])('that are %s, such as %s, keep the output out of the cache and reach no candidate', (role, flag) => {
    const flags = read(...plain, flag);
    expect(roleOf(flags.at(-1)!)).toBe(role);
    expect(givesOnlyOutput(flags)).toBe(false);
    expect(candidateFlags(flags)).toEqual(candidateFlags(read(...plain)));
    const why = whyUntouched(readArguments([...plain, flag, 'in.mlir'], table));
    expect(why?.reason ?? null).toBe(role === 'unknown' ? `${flag.split('=')[0]!} may write a file` : null);
  });
});

/** Names that sound like output files, and are none. */
const NOT_WRITING = [
  ...['compile-to', 'emit-mlir-bytecode', 'emit-mlir-bytecode-version', 'iree-flow-export-benchmark-funcs'],
  ...['iree-parameter-export-minimum-size', 'iree-rocm-bc-dir', 'print-on-crash', 'view-hot-freq-percent'],
  ...['constraint-elimination-dump-reproducers', 'iree-vm-c-module-output-format', 'dot-ddg-only'],
  ...['renumber-blocks-before-view', 'x86-lvi-load-dot-verify'],
];

/** Flags of IREE with a text of unknown meaning. Commands with them are not tuned. */
const UNKNOWN = ['iree-cuda-use-ptxas-params'];

/** Flags of IREE with a number, which the help does not say. */
const NUMBERS = ['iree-llvmgpu-prefetch-num-stages'];

describe('of the real compiler', { tags: ['compiler'] }, async () => {
  const { compiler } = await import('../support/installed-tools.ts');
  const { stdout } = await execa(compiler.executable, ['--help-hidden']);
  const { flags, values, uncertain, choices } = parseHelp(stdout);
  const names = [...flags, ...values, ...uncertain];
  const table = tableOf([...flags], [...values, ...uncertain], [...choices]);
  const numbers = new Set(
    [...stdout.matchAll(/^ *--([\w-]+)=<(?:u?int|u?long|number)>/gm)].map(([, name]) => name),
  );
  /** Role of a flag, with a path as its value if it takes a text. */
  const roleWith = (name: string) => {
    const value = flags.has(name) ? null : numbers.has(name) ? '8' : 'a/path';
    return roleOf({ name, value, kind: table(name), index: 0, end: 1 });
  };
  const about = new Map(
    [...stdout.matchAll(/^ *--([\w-]+)\S* +- (.*)$/gm)].map(([, name, text]) => [name, text]),
  );

  test('that write files are all known, or take a text of unknown meaning', () => {
    expect(names.length).toBeGreaterThan(2000);
    const suspects = names.filter(
      (name) =>
        /(?:^|-)(?:to|dir|directory)$|^iree-.*(?:export|splat)|listing|(?:output|dot|summary|usage|config)-(?:file|path)|reproducer|dotgraph|save-|^(?:pgo-)?view-|view-.*graph/.test(
          name,
        ) ||
        /\bto (?:a|the given|an?) (?:\S+ )?(?:file|directory|archive)\b|dot (?:files?|graph)|[Ff]ile to (?:append|emit|write|create)|[Pp]ath to (?:output|write|create)|^Dump a /.test(
          about.get(name) ?? '',
        ),
    );
    expect(suspects.length).toBeGreaterThan(50);
    const open = suspects.filter((name) => !['writing', 'unknown'].includes(roleWith(name)));
    expect(open.filter((name) => !NOT_WRITING.includes(name))).toEqual([]);
  });

  test('of IREE with a text are all known', () => {
    const open = names.filter((name) => name.startsWith('iree-') && roleWith(name) === 'unknown');
    expect(open.filter((name) => ![...UNKNOWN, ...NUMBERS].includes(name))).toEqual([]);
  });

  test('that are dropped are dropped with their values', () => {
    for (const name of names) {
      const writing = writingOf(name);
      if (writing !== null)
        expect([name, flags.has(name) ? 'bare' : 'with a value']).toEqual([name, writing]);
    }
  });
});
