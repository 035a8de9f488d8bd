import { expect, test } from 'vitest';
import type { FormChoice } from '../../../src/form/choose.ts';
import { rewritten } from '../../../src/running/variants/forms.ts';
import { commandOf, surroundingsOf } from '../../support/inspected.ts';

const tensor = (shape: readonly number[]) => ({ shape, elementType: 'f32' });

const choice = (channels: number): FormChoice => ({
  operation: {
    name: 'linalg.depthwise_conv_2d_nchw_chw',
    image: tensor([1, channels, 10, 10]),
    filter: tensor([channels, 3, 3]),
    result: tensor([1, channels, 8, 8]),
    ...{ strides: [1, 1], dilations: [1, 1] },
  },
  form: 'shifted-slices',
});

test('the order of operations in the program changes no command', async () => {
  const [command, surroundings] = [commandOf('in.mlir', '-o', 'out.vmfb'), surroundingsOf()];
  const { rewriting } = await rewritten(command, [choice(8), choice(32)], surroundings);
  expect((await rewritten(command, [choice(32), choice(8)], surroundings)).rewriting).toEqual(rewriting);
  expect((await rewritten(command, [choice(32)], surroundings)).rewriting).not.toEqual(rewriting);
});
