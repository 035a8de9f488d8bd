// Pointwise convolutions become contractions before code generation. They are tuned as contractions, and their tiles land: one dialect for each
// layout. test/docs/support.test.ts has the lowerings of the other dialects.
// In full after a change of src/workload/contraction.
import { expect, test } from 'vitest';
import { ODD_TILES } from '../support/backend.ts';
import { record } from './faults/support.ts';
import { HOST, Workplace } from './support.ts';

const fn = (types: readonly [image: string, filter: string, result: string], ...body: string[]) =>
  `func.func @main(%a: ${types[0]}, %b: ${types[1]}) -> ${types[2]} {\n  ${body.join('\n  ')}\n  return %r : ${types[2]}\n}\n`;
const tensor = (sizes: string) => `tensor<${sizes}xf32>`;
const vtensor = (sizes: string) => `!torch.vtensor<[${sizes.replaceAll('x', ',')}],f32>`;

const nhwc = { image: '1x8x9x16', filter: '1x1x16x40', result: '1x8x9x40' };
const nchw = { image: '1x16x8x9', filter: '40x16x1x1', result: '1x40x8x9' };
const byResult = { ...nhwc, filter: '40x1x1x16' };
const typesIn = (type: (sizes: string) => string, { image, filter, result }: typeof nhwc) =>
  [type(image), type(filter), type(result)] as const;
const inTensors = typesIn(tensor, nhwc);
const inTosa = typesIn(tensor, byResult);
const inTorch = typesIn(vtensor, nchw);

const inputs: [string, typeof nhwc, string, string][] = [
  [
    'linalg',
    nhwc,
    'mk,kn->mn',
    fn(
      inTensors,
      '%z = arith.constant 0.0 : f32',
      `%e = tensor.empty() : ${inTensors[2]}`,
      `%i = linalg.fill ins(%z : f32) outs(%e : ${inTensors[2]}) -> ${inTensors[2]}`,
      `%r = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%a, %b : ${inTensors[0]}, ${inTensors[1]}) outs(%i : ${inTensors[2]}) -> ${inTensors[2]}`,
    ),
  ],
  [
    'tosa',
    byResult,
    'mk,nk->mn',
    fn(
      inTosa,
      '%z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>',
      '%s = "tosa.const"() <{values = dense<0.0> : tensor<40xf32>}> : () -> tensor<40xf32>',
      `%r = "tosa.conv2d"(%a, %b, %s, %z, %z) <{acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>}> : (${inTosa[0]}, ${inTosa[1]}, tensor<40xf32>, tensor<1xf32>, tensor<1xf32>) -> ${inTosa[2]}`,
    ),
  ],
  [
    'torch',
    nchw,
    'km,nk->nm',
    fn(
      inTorch,
      '%none = torch.constant.none',
      '%0 = torch.constant.int 0',
      '%1 = torch.constant.int 1',
      '%l = torch.prim.ListConstruct %1, %1 : (!torch.int, !torch.int) -> !torch.list<int>',
      '%o = torch.prim.ListConstruct %0, %0 : (!torch.int, !torch.int) -> !torch.list<int>',
      `%r = torch.aten.conv2d %a, %b, %none, %l, %o, %l, %1 : ${inTorch[0]}, ${inTorch[1]}, !torch.none, !torch.list<int>, !torch.list<int>, !torch.list<int>, !torch.int -> ${inTorch[2]}`,
    ),
  ],
];

test.each(inputs)(
  'a pointwise convolution in %s gets its tiles, and computes the same',
  { timeout: 120_000 },
  async (name, { image, filter }, maps, text) => {
    const place = new Workplace();
    const file = place.write(`${name}.mlir`, text);
    const argv = [...HOST, file, '-o', 'tuned.vmfb'];
    await record(place, () => ODD_TILES, argv);

    const explanation = await place.built(argv);
    expect(explanation).toMatchObject({
      ...{ route: 'spec', applied: true, reason: null },
      operations: [
        {
          ...{ outcome: 'hit', configuration: ODD_TILES },
          workload: `contraction m=72 n=40 k=16 f32,f32->f32 ${maps}`,
          location: expect.stringMatching(new RegExp(`^${file}:\\d+:8$`)) as string,
        },
      ],
    });
    expect(await place.isStock('tuned.vmfb', [...HOST, file])).toBe(false);
    const [tuned, stock] = [
      await place.outputsOf('tuned.vmfb', [image, filter]),
      await place.outputsOf('stock.vmfb', [image, filter]),
    ];
    expect(tuned).toEqual(stock);
  },
);
