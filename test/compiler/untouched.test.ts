// Commands that are left to the compiler, each with its code.
import { expect, test } from 'vitest';
import { commandOf } from '../support/inspected.ts';

test.each([
  ['information-only', ['in.mlir', '--version']],
  ['command-unclear', ['in.mlir', '--plugin-option=x']],
  ['output-descriptor', ['in.mlir', '-o', '/dev/fd/5']],
  ['own-tuning', ['in.mlir', '--iree-codegen-tuning-spec-path=own.mlir']],
  ['partial-compile', ['in.mlir', '--compile-to=flow']],
])('%s: %j', (code, argv) => {
  expect(commandOf(...argv).whyUntouched?.code).toBe(code);
});
