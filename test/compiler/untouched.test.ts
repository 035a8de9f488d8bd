// Commands that are left to the compiler, each with its code and its reason.
import { expect, test } from 'vitest';
import { commandOf } from '../support/inspected.ts';

test.each([
  ['information-only', ['in.mlir', '--version'], 'only information is asked for'],
  ['command-unclear', [], 'no input file'],
  ['command-unclear', ['in.mlir', 'in.mlir'], 'more than one input file'],
  ['command-unclear', ['in.mlir', '--plugin-option=x'], '--plugin-option'],
  ['output-descriptor', ['in.mlir', '-o', '/dev/stdout'], 'the output is a descriptor'],
  ['output-descriptor', ['in.mlir', '-o', '/dev/fd/5'], 'the output is a descriptor'],
  ['output-descriptor', ['in.mlir', '-o', '/proc/self/fd/1'], 'the output is a descriptor'],
  [
    'own-tuning',
    ['in.mlir', '--iree-codegen-tuning-spec-path=s'],
    '--iree-codegen-tuning-spec-path is given',
  ],
  ['own-tuning', ['in.mlir', '--iree-hal-substitute-executable-object=a=b'], '-object is given'],
  ['partial-compile', ['in.mlir', '--compile-to=flow'], '--compile-to=flow'],
  ['partial-compile', ['in.mlir', '--compile-from=hal'], '--compile-from=hal'],
  ['partial-compile', ['in.mlir', '--compile-mode=hal-executable'], '--compile-mode=hal-executable'],
])('%s: %j', (code, argv, reason) => {
  const why = commandOf(...argv).whyUntouched;
  expect(why?.code).toBe(code);
  expect(why?.reason).toContain(reason);
});

test.each([
  [['-o', '/dev/null']],
  [['--compile-to=vm']],
  [['--compile-to=end']],
  [['--compile-from=start']],
  [['--compile-mode=std']],
])('a command with %j is inspected', (flags) => {
  expect(commandOf('in.mlir', ...flags).whyUntouched).toBeNull();
});
