// Facts about the real compiler and runtime that signatures rely on.
import { execa } from 'execa';
import { expect, test } from 'vitest';
import { writeInputs } from '../../src/program/inputs.ts';
import { declaredSignature } from '../../src/input/signature.ts';
import { temporaryDirectory } from '../support/folders.ts';
import { runtimeTool } from '../support/real-tools.ts';
import { compile, onlyFunction, runMain } from './support.ts';

test('the compiled module declares the signature of the text', async () => {
  const arguments_ = 'tensor<2x3xf64>, f64, tensor<f16>, tensor<4xsi8>, i1, index, tensor<0x4xi64>'
    .split(/, /)
    .map((type, i) => `%a${i}: ${type}`);
  const text = `module { func.func public @main(${arguments_.join(', ')}) -> (tensor<2x3xf64>, index) {
    return %a0, %a5 : tensor<2x3xf64>, index
  } }`;
  const module = await compile(text, temporaryDirectory(), 'declared');
  const { stdout } = await execa(runtimeTool('iree-dump-module'), [module]);
  expect(declaredSignature(stdout)).toEqual([onlyFunction(text)]);
});

test.each<[string, string, string, string]>([
  ['f64 is demoted to f32', 'tensor<2xf64>', 'tensor<2xf64>', '%r = arith.addf %a, %a : tensor<2xf64>'],
  [
    'a torch tensor of f64 is not demoted',
    '!torch.vtensor<[2],f64>',
    '!torch.vtensor<[2],f32>',
    `%f32 = torch.constant.int 6
    %r = torch.prims.convert_element_type %a, %f32 : !torch.vtensor<[2],f64>, !torch.int -> !torch.vtensor<[2],f32>`,
  ],
  [
    'a torch tensor of integers',
    '!torch.vtensor<[2],si64>',
    '!torch.vtensor<[2],si64>',
    `%r = torch.aten.mul.Tensor %a, %a : !torch.vtensor<[2],si64>, !torch.vtensor<[2],si64> -> !torch.vtensor<[2],si64>`,
  ],
])('the runtime accepts only one type of input: %s', async (_, type, result, body) => {
  const folder = temporaryDirectory();
  const text = `module { func.func @main(%a: ${type}) -> ${result} {
    ${body}
    return %r : ${result}
  } }`;
  const module = await compile(text, folder, 'program');
  const accepts = async (input: string) => (await runMain(module, [`--input=${input}`])) !== null;
  const [input] = writeInputs(onlyFunction(text), folder, 1);
  expect(await accepts(input!)).toBe(true);
  const other = input!.includes('f32=') ? '2xf64=1' : '2xf32=1';
  expect(await accepts(other)).toBe(false);
});
