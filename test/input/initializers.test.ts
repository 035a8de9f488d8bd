import { expect, test } from 'vitest';
import { withoutInitializers } from '../../src/input/flow.ts';

const executable = (name: string) => `  flow.executable private @${name} {
    flow.executable.export public @${name}_transpose workgroups() -> (index) {
      flow.return %x : index
    } loc(#loc1)
  } loc(#loc)
`;
const initializer = (name: string) => `  util.initializer attributes {some = "}"} {
    %0 = flow.dispatch @${name}::@${name}_transpose() : () -> tensor<4xf32>
    util.global.store %0, @w : tensor<4xf32>
    util.return loc(#loc1)
  } loc(#loc)
`;
const main = (name: string) => `  util.func public @main() -> tensor<4xf32> {
    %0 = flow.dispatch @${name}::@${name}_transpose() : () -> tensor<4xf32>
    util.return %0 : tensor<4xf32>
  }
`;
const program = (...parts: readonly string[]) => Buffer.from(`module {\n${parts.join('')}}\n`);
const cleaned = (...parts: readonly string[]) =>
  Buffer.from(withoutInitializers(program(...parts))).toString();

test('initializers, and executables that only they dispatch, are removed', () => {
  const parts = [executable('_initializer_0_dispatch_0'), initializer('_initializer_0_dispatch_0')];
  const own = [executable('main_dispatch_0'), main('main_dispatch_0')];
  expect(cleaned(...parts, ...own)).toBe(program(...own).toString());
});

test('an executable that a function also dispatches stays', () => {
  const shared = executable('_initializer_0_dispatch_0');
  const own = main('_initializer_0_dispatch_0');
  expect(cleaned(shared, initializer('_initializer_0_dispatch_0'), own)).toBe(
    program(shared, own).toString(),
  );
});

test('a program without initializers stays unchanged', () => {
  const bytes = program(executable('main_dispatch_0'), main('main_dispatch_0'));
  expect(withoutInitializers(bytes)).toBe(bytes);
});
