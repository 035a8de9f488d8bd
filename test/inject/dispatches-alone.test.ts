import { expect, test } from 'vitest';
import { dispatchesAlone } from '../../src/inject/dispatches-alone.ts';

const executable = (name: string, body: string) => `  flow.executable private @${name} {
    flow.executable.export public @${name}_elementwise_4_f32 workgroups() -> (index, index, index) {
      %x, %y, %z = iree_tensor_ext.dispatch.workgroup_count_from_slice()
      flow.return %x, %y, %z : index, index, index
    }
    builtin.module {
      func.func @${name}_elementwise_4_f32() {
${body}
        return
      }
    }
  }
`;
const dispatch = (i: number, name: string) =>
  `    %${i} = flow.dispatch @${name}::@${name}_elementwise_4_f32(%${i - 1}) : (tensor<4xf32>) -> tensor<4xf32>\n`;

/** The end of a program whose constants have names, as in exports of PyTorch. */
const RESOURCES = `
{-#
  dialect_resources: {
    builtin: {
      torch_tensor_4_torch.float32: "0x040000000000803F0000803F0000803F0000803F"
    }
  }
#-}
`;

test('dispatches with constants that stand elsewhere are left out, and so are the constants', () => {
  const names = ['f_dispatch_0', 'f_dispatch_1'];
  const constant = '        %w = arith.constant dense_resource<torch_tensor_4_torch.float32> : tensor<4xf32>';
  const flow = `#map = affine_map<(d0) -> (d0)>
module {
${executable(names[0]!, constant)}${executable(names[1]!, '        %c = arith.constant 1.0 : f32')}  util.func public @f(%0: tensor<4xf32>) -> tensor<4xf32> {
${dispatch(1, names[0]!)}${dispatch(2, names[1]!)}    util.return %2 : tensor<4xf32>
  }
}
${RESOURCES}`;
  const { text, dispatches } = dispatchesAlone(flow, new Set(names));
  expect(dispatches.map((one) => one.executable)).toEqual([names[1]]);
  expect(text).toContain(`flow.executable private @${names[1]} {`);
  expect(text).not.toMatch(/dense_resource|#-\}|f_dispatch_0/);
});
