import { expect, test } from 'vitest';
import { argvForBackend } from '../../src/compiler/one-target.ts';
import { commandOf } from '../support/inspected.ts';

const command = commandOf(
  ...[
    '--iree-hal-target-backends=llvm-cpu',
    '--iree-hal-target-backends=vulkan-spirv',
    '--iree-opt-level=O2',
  ],
  ...['--iree-llvmcpu-target-cpu=host', '--iree-vulkan-target=llvmpipe', 'in.mlir', '-o', 'out.vmfb'],
);

test.each([
  ['llvm-cpu', '--iree-llvmcpu-target-cpu=host'],
  ['vulkan-spirv', '--iree-vulkan-target=llvmpipe'],
])('the command for %s has the flags of that backend only', (backend, own) => {
  expect(argvForBackend(command, backend)).toEqual([
    ...[`--iree-hal-target-backends=${backend}`, '--iree-opt-level=O2', own, 'in.mlir', '-o', 'out.vmfb'],
  ]);
});

test('the flags of an unknown backend stay, and those of all others go', () => {
  expect(argvForBackend(command, 'new')).toEqual([
    ...['--iree-hal-target-backends=new', '--iree-opt-level=O2', 'in.mlir', '-o', 'out.vmfb'],
  ]);
});

test('a flag with its value as the next argument goes with its value', () => {
  const spaced = commandOf('-o', 'out.vmfb', '--iree-hal-target-device=local,vulkan', 'in.mlir');
  expect(argvForBackend(spaced, 'llvm-cpu')).toEqual([
    ...['--iree-hal-target-backends=llvm-cpu', '-o', 'out.vmfb', 'in.mlir'],
  ]);
});
