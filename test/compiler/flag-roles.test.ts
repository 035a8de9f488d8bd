import { describe, expect, test } from 'vitest';
import { readArguments } from '../../src/compiler/arguments.ts';
import {
  candidateFlags,
  codegenFlags,
  givesOnlyOutput,
  userTuningFlag,
} from '../../src/compiler/flag-roles.ts';
import { tableOf } from '../../src/compiler/options.ts';

describe('flags', () => {
  const table = tableOf(
    [],
    ['o', 'iree-opt-level', 'iree-hal-target-device', 'iree-hal-dump-executable-sources-to'],
  );
  const read = (...argv: string[]) => readArguments(argv, table).flags;
  test('that only say where things go are part of nothing', () => {
    const flags = read('-o', 'x', '--iree-hal-dump-executable-sources-to=d', '--mlir-print-debuginfo');
    expect([candidateFlags(flags), codegenFlags(flags)]).toEqual([[], []]);
  });
  test('that choose the target are for candidates, but not in the key', () => {
    const flags = read('--iree-hal-target-device', 'local', '--iree-llvmcpu-target-cpu=host');
    expect(candidateFlags(flags)).toEqual([
      '--iree-hal-target-device=local',
      '--iree-llvmcpu-target-cpu=host',
    ]);
    expect(codegenFlags(flags)).toEqual([]);
  });
  test('that may change code are in both, known or not', () => {
    const flags = read('--iree-opt-level=O2', '--iree-brand-new');
    expect(codegenFlags(flags)).toEqual(['--iree-opt-level=O2', '--iree-brand-new']);
    expect(candidateFlags(flags)).toEqual(codegenFlags(flags));
  });
  test('with which the user tunes are recognised', () => {
    expect(userTuningFlag(read('--iree-opt-level=O2'))).toBeNull();
    expect(userTuningFlag(read('--iree-codegen-tuning-spec-path=x'))).toBe('--iree-codegen-tuning-spec-path');
  });
  test('that ask for more than the output are known, and so is what nobody knows', () => {
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
