import { describe, expect, test } from 'vitest';
import { readSettings, SettingsError, splitSettings } from '../../src/cli/settings.ts';

const read = (env: Record<string, string>, ...argv: string[]) => readSettings(env, splitSettings(argv).given);

describe('settings', () => {
  test('have defaults', () => {
    expect(read({ XDG_DATA_HOME: '/data' })).toMatchObject({
      onMiss: 'tune',
      budgetSeconds: 60,
      inject: 'auto',
      device: 'local-task',
      disabled: false,
      readonly: false,
      compiler: undefined,
    });
  });
  test('of a flag win over the environment', () => {
    expect(read({ IREE_TUNED_BUDGET: '5' }).budgetSeconds).toBe(5);
    expect(read({ IREE_TUNED_BUDGET: '5' }, '--iree-tuned-budget=7').budgetSeconds).toBe(7);
  });
  test('can be switched off again', () => {
    expect(read({ IREE_TUNED_DISABLE: '0' }).disabled).toBe(false);
    expect(read({ IREE_TUNED_DISABLE: '1' }, '--iree-tuned-disable=0').disabled).toBe(false);
    expect(read({}, '--iree-tuned-readonly').readonly).toBe(true);
  });
  test.each([
    ['IREE_TUNED_BUDGET', 'soon', /IREE_TUNED_BUDGET=soon: it takes a number of seconds/],
    ['IREE_TUNED_BUDGET', '-1', /number of seconds/],
    ['IREE_TUNED_BUDGET', ' ', /number of seconds/],
    ['IREE_TUNED_ON_MISS', 'panic', /IREE_TUNED_ON_MISS=panic: it takes tune, default, record/],
    ['IREE_TUNED_INJECT', 'magic', /auto, spec, preprocess, inline/],
  ])('refuse %s=%s by name', (name, value, message) => {
    expect(() => read({ [name]: value })).toThrow(SettingsError);
    expect(() => read({ [name]: value })).toThrow(message);
  });
});

describe('our own flags', () => {
  test.each<[string[], string[]]>([
    [
      ['a.mlir', '--iree-tuned-budget=3', '-o', 'b'],
      ['a.mlir', '-o', 'b'],
    ],
    [['--iree-tuned-budget', '3', 'a.mlir'], ['a.mlir']],
    [['-iree-tuned-disable', 'a.mlir'], ['a.mlir']],
    [
      ['--iree-tuned-nonsense', 'a.mlir'],
      ['--iree-tuned-nonsense', 'a.mlir'],
    ],
    [
      ['--', '--iree-tuned-disable'],
      ['--', '--iree-tuned-disable'],
    ],
    [['--iree-llvmcpu-target-cpu=host'], ['--iree-llvmcpu-target-cpu=host']],
  ])('%j leave %j', (argv, rest) => {
    expect(splitSettings(argv).rest).toEqual(rest);
  });
});
