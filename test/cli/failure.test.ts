import { openSync } from 'node:fs';
import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { exitCodeOf, messageForUser, UsageError } from '../../src/cli/failure.ts';
import { CompilerNotFoundError } from '../../src/compiler/find.ts';
import { RecursionError } from '../../src/system/recursion.ts';
import { UserError } from '../../src/system/user-error.ts';
import { SettingsError } from '../../src/settings/index.ts';
import { StoreError } from '../../src/store/errors.ts';

test.each([
  new UserError('why'),
  new UsageError('why'),
  new SettingsError('why'),
  new StoreError('locked', 'why'),
  new CompilerNotFoundError('iree-compile-tuned: why'),
  new RecursionError('iree-compile-tuned: why'),
])('a $name prints its message', (error) => {
  expect(messageForUser(error)).toBe('why');
});

const thrownBy = (action: () => unknown): unknown => {
  try {
    action();
  } catch (error) {
    return error;
  }
  return undefined;
};

test('an error of the system prints its path and its reason', () => {
  const ofSystem = thrownBy(() => openSync('/dev/null/folder', 'r'));
  expect(messageForUser(ofSystem)).toBe('/dev/null/folder: a part of the path is not a folder');
  expect(messageForUser(thrownBy(() => new Database('/dev')))).toBe('unable to open database file');
});

test.each([
  thrownBy(() => (null as unknown as string).trim()),
  thrownBy(() => Buffer.from(3 as unknown as string)),
  new Error('unexpected'),
  'text',
])('a bug has no message: %s', (error) => {
  expect(messageForUser(error)).toBeNull();
});

test('an invalid command line ends with 2, a failure with 1', () => {
  expect([new UsageError('why'), new SettingsError('why')].map(exitCodeOf)).toEqual([2, 2]);
  const failures = [new UserError('why'), new StoreError('locked', 'why'), new Error('why')];
  expect(failures.map(exitCodeOf)).toEqual([1, 1, 1]);
});
