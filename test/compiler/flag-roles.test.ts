import { describe, expect, test } from 'vitest';
import { readArguments } from '../../src/compiler/arguments.ts';
import { candidateFlags, codegenFlags, userTuningFlag } from '../../src/compiler/flag-roles.ts';
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
});
