// Dispatches that are tuned in their program, and their operands there.
import { describe, expect, test } from 'vitest';
import { rootsIn } from '../../src/input/dispatches.ts';
import { readFlow } from '../../src/input/flow.ts';

interface DispatchText {
  readonly name: string;
  /** Types of the operands, such as `8x8x32xf32`. The last is the result. */
  readonly types: readonly string[];
  readonly maps: readonly string[];
  readonly reduced?: readonly boolean[];
  /** More operations. */
  readonly more?: string;
  readonly location?: string;
  readonly mark?: string;
}

/** An executable as the compiler prints it after `flow`. */
function executable({
  name,
  types,
  maps,
  reduced,
  more = '',
  location = '',
  mark = '',
}: DispatchText): string {
  const [lhs, rhs] = types;
  const result = types.at(-1)!;
  const argument = (type: string, i: number) =>
    `%arg${i}: !iree_tensor_ext.dispatch.tensor<${i === types.length - 1 ? 'writeonly' : 'readonly'}:tensor<${type}>>${location}`;
  const load = (type: string, i: number) =>
    `        %${i} = iree_tensor_ext.dispatch.tensor.load %arg${i}, offsets = [0], sizes = [1], strides = [1] : !iree_tensor_ext.dispatch.tensor<readonly:tensor<${type}>> -> tensor<${type}>${location}`;
  const loops = (reduced ?? [false, false, true])
    .map((is) => `"${is ? 'reduction' : 'parallel'}"`)
    .join(', ');
  const names = (reduced ?? [0, 0, 0]).map((_, i) => `d${i}`).join(', ');
  const spelled = maps.map((map) => `affine_map<(${names}) -> (${map})>`).join(', ');
  return `  flow.executable private @${name} {
    flow.executable.export public @${name}_reduction workgroups() -> (index, index, index) {
      %x, %y, %z = iree_tensor_ext.dispatch.workgroup_count_from_slice()${location}
      flow.return %x, %y, %z : index, index, index${location}
    }${location}
    builtin.module {
      func.func @${name}_reduction(${types.map(argument).join(', ')}) {
        %cst = arith.constant 0.000000e+00 : f32${location}
${types.slice(0, -1).map(load).join('\n')}
        %e = tensor.empty() : tensor<${result}>${location}
        %f = linalg.fill ins(%cst : f32) outs(%e : tensor<${result}>) -> tensor<${result}>${location}
        %r = linalg.generic {indexing_maps = [${spelled}], iterator_types = [${loops}]} ins(%0, %1 : tensor<${lhs!}>, tensor<${rhs!}>) outs(%f : tensor<${result}>)${mark} {
        ^bb0(%in: f32${location}, %in_0: f32${location}, %out: f32${location}):
          %p = arith.mulf %in, %in_0 : f32${location}
          %s = arith.addf %out, %p : f32${location}
          linalg.yield %s : f32${location}
        } -> tensor<${result}>${location}
${more}        iree_tensor_ext.dispatch.tensor.store %r, %arg${types.length - 1}, offsets = [0], sizes = [1], strides = [1] : tensor<${result}> -> !iree_tensor_ext.dispatch.tensor<writeonly:tensor<${result}>>${location}
        return${location}
      }${location}
    }${location}
  }${location}
`;
}

interface Call {
  readonly name: string;
  readonly operands: readonly string[];
  readonly types: readonly string[];
}

const program = (executables: readonly string[], calls: readonly Call[], before: readonly string[] = []) =>
  Buffer.from(`module attributes {stream.affinity.default = #hal.device.affinity<@__device_0>} {
${executables.join('')}  util.func public @main(%arg0: !hal.buffer_view, %arg1: !hal.buffer_view) -> (!hal.buffer_view) {
${before.map((line) => `    ${line}\n`).join('')}${calls
    .map(
      ({ name, operands, types }, i) =>
        `    %call${i} = flow.dispatch @${name}::@${name}_reduction(${operands.join(', ')}) : (${types
          .slice(0, -1)
          .map((type) => `tensor<${type}>`)
          .join(', ')}) -> tensor<${types.at(-1)!}>\n`,
    )
    .join('')}    util.return %arg0 : !hal.buffer_view
  }
}
`);

const STRIDED: DispatchText = {
  name: 'main_dispatch_1',
  types: ['8x8x32xf32', '32x48xf32', '4x4x48xf32'],
  maps: ['d0 * 2, d1 * 2, d3', 'd3, d2', 'd0, d1, d2'],
  reduced: [false, false, false, true],
};
const VECTOR: DispatchText = {
  name: 'main_dispatch_2',
  types: ['512xf32', '512x512xf32', '512xf32'],
  maps: ['d1', 'd1, d0', 'd0'],
  reduced: [false, true],
};
const MATMUL: DispatchText = {
  name: 'main_dispatch_3',
  types: ['512x512xf32', '512x512xf32', '512x512xf32'],
  maps: ['d0, d2', 'd2, d1', 'd0, d1'],
};
const imported = (name: string, type: string) =>
  `%${name} = hal.tensor.import %arg0 "input0" : !hal.buffer_view -> tensor<${type}>`;
const callOf = ({ name, types }: DispatchText, ...operands: string[]): Call => ({ name, operands, types });
const dispatchesOf = (flow: Uint8Array) => [...rootsIn(readFlow(flow)).values()];
const one = (text: DispatchText) => dispatchesOf(program([executable(text)], [callOf(text, '%a', '%b')]));

describe('a dispatch that writes a part of a tensor', () => {
  const text = program([executable(STRIDED)], [callOf(STRIDED, '%a', '%b')]).toString();
  const partly = text.replace('<writeonly:', '<readwrite:');

  test('is measured like any other', () => {
    const [whole] = dispatchesOf(Buffer.from(text));
    const [part] = dispatchesOf(Buffer.from(partly));
    const { context, ...workload } = part!.workload;
    expect(workload).toEqual({ ...whole!.workload, context: undefined });
    expect(context!.digest).not.toBe(whole!.workload.context!.digest);
    expect(context!.dispatch!.arguments).toEqual(whole!.workload.context!.dispatch!.arguments);
  });

  test('is skipped if it also reads that tensor', () => {
    const reading = partly.replace(
      /^ {8}%e = /m,
      '        %old = iree_tensor_ext.dispatch.tensor.load %arg2, x\n$&',
    );
    expect(reading).not.toBe(partly);
    expect(dispatchesOf(Buffer.from(reading))).toEqual([]);
  });
});

describe('a dispatch with several results', () => {
  const text = program([executable(STRIDED)], [callOf(STRIDED, '%a', '%b')]).toString();
  const [, argument] = /(%arg2: [^)]*)\) \{/.exec(text)!;
  const twice = text.replace(argument!, `${argument!}, ${argument!.replace('%arg2', '%arg3')}`);

  test('is measured with the last of them', () => {
    const [found] = dispatchesOf(Buffer.from(twice));
    const { dispatch } = found!.workload.context!;
    expect(dispatch).toMatchObject({ results: 2 });
    expect(dispatch!.arguments.map(({ shape }) => shape.join('x'))).toEqual([
      ...['8x8x32', '32x48', '4x4x48', '4x4x48'],
    ]);
  });

  test('is skipped if it writes a part of one, or reads a result', () => {
    for (const access of ['readwrite', 'readonly'])
      expect(dispatchesOf(Buffer.from(twice.replace(/(%arg3: \S+<)writeonly:/, `$1${access}:`)))).toEqual([]);
  });
});

describe('a dispatch with more work than its root', () => {
  /** `%r` after an element-wise operation. */
  const fused = (operation: string): DispatchText => ({
    ...MATMUL,
    more: `        %after = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} outs(%r : tensor<512x512xf32>) {
        ^bb0(%out: f32):
          %v = ${operation} %out : f32
          linalg.yield %v : f32
        } -> tensor<512x512xf32>
`,
  });

  test.each(['math.tanh', 'math.exp'])('such as %s is a workload of its own', (operation) => {
    const [dispatch] = one(fused(operation));
    expect(dispatch!.workload.context!.dispatch!.isStrided).toBe(false);
  });

  test.each(['arith.negf', 'math.absf'])('such as %s, which is hardly any, is not', (operation) => {
    expect(one(fused(operation))[0]!.workload.context).toBeUndefined();
  });
});

describe('a dispatch whose root reads with strides', () => {
  test('is a separate workload with the sizes of its loops', () => {
    const flow = program([executable(STRIDED)], [callOf(STRIDED, '%a', '%b')]);
    const [found, ...others] = rootsIn(readFlow(flow));
    const [name, { workload, loops }] = found!;
    expect(others).toEqual([]);
    expect(name).toBe('main_dispatch_1');
    expect(workload.dimensions).toEqual([
      { kind: 'm', size: 4 },
      { kind: 'm', size: 4 },
      { kind: 'n', size: 48 },
      { kind: 'k', size: 32 },
    ]);
    expect(loops).toEqual([0, 1, 2, 3]);
    expect(workload.context!.digest).toMatch(/^[0-9a-f]{16}$/);
    expect(workload.context!.dispatch).toMatchObject({
      isStrided: true,
      arguments: [
        { shape: [8, 8, 32], elementType: 'f32', buffers: 1 },
        { shape: [32, 48], elementType: 'f32', buffers: 1 },
        { shape: [4, 4, 48], elementType: 'f32', buffers: 1 },
      ],
    });
  });

  test('is independent of names, locations and marks', () => {
    const digestOf = (text: DispatchText) => one(text)[0]!.workload.context!.digest;
    const digest = digestOf(STRIDED);
    expect(digestOf({ ...STRIDED, name: 'other$async_dispatch_77' })).toBe(digest);
    expect(
      digestOf({ ...STRIDED, location: ' loc(callsite("a (b.mlir":5:8 at fused["x)"(#loc3)]("y":1:1)))' }),
    ).toBe(digest);
    expect(digestOf({ ...STRIDED, mark: ' attrs =  {iree_tuned_form = 3 : i64}' })).toBe(digest);
    expect(digestOf({ ...STRIDED, more: '        %q = math.exp %r : tensor<4x4x48xf32>\n' })).not.toBe(
      digest,
    );
    const wider = { ...STRIDED, maps: ['d0 * 3, d1 * 2, d3', 'd3, d2', 'd0, d1, d2'] };
    expect(digestOf(wider)).not.toBe(digest);
  });

  test('has small integers for elided constants', () => {
    const constant = (type: string) => `        %q = arith.constant dense_resource<__elided__> : ${type}\n`;
    const textOf = (more: string) => one({ ...STRIDED, more })[0]!.workload.context!.dispatch!.text;
    expect(textOf(constant('tensor<5xf32>'))).toContain('dense<[0.0, 1.0, 2.0, 3.0, 0.0]> : tensor<5xf32>');
    expect(textOf(constant('tensor<2x3xi8>'))).toContain('dense<[[0, 1, 2], [3, 0, 1]]> : tensor<2x3xi8>');
    expect(textOf(constant('tensor<3xi1>'))).toContain('dense<[false, true, false]> : tensor<3xi1>');
  });

  test.each<[string, Partial<DispatchText>]>([
    [
      'reads an index from memory',
      { more: '        %q = tensor.extract %0[%c, %c, %c] : tensor<8x8x32xf32>\n' },
    ],
    ['knows where it is', { more: '        %q = linalg.index 0 : index\n' }],
    ['does something that is not known', { more: '        %q = iree_linalg_ext.sort %0 : f32\n' }],
    [
      'has a large constant of which the text is not there',
      { more: '        %q = arith.constant dense_resource<__elided__> : tensor<4097xf32>\n' },
    ],
    ['has a type that is no word', { types: ['8x8x32xcomplex<f32>', '32x48xf32', '4x4x48xf32'] }],
    ['has dynamic sizes', { types: ['?x8x32xf32', '32x48xf32', '4x4x48xf32'] }],
    [
      'has two roots',
      {
        more: executable(STRIDED)
          .split('\n')
          .filter((line) => !/^ {0,6}\S|return$/.test(line))
          .join('\n'),
      },
    ],
  ])('is skipped if it %s', (_, change) => {
    expect(one({ ...STRIDED, ...change })).toEqual([]);
  });

  test('is skipped if it has other arguments than tensors, or no call', () => {
    const text = executable(STRIDED)
      .replace('workgroups()', 'workgroups(%arg0: index)')
      .replace(/(func\.func @\S+?\()/, '$1%size: index, ');
    expect(text).toContain('(%size: index, %');
    expect(dispatchesOf(program([text], [callOf(STRIDED, '%a', '%b')]))).toEqual([]);
    expect(dispatchesOf(program([executable(STRIDED)], []))).toEqual([]);
  });
});

test('a convolution with the channels first is left to a backend with a pipeline for it', () => {
  const convolution: DispatchText = {
    name: 'main_dispatch_1',
    types: ['8x20x19xf32', '16x8x3x3xf32', '16x18x17xf32'],
    maps: ['d3, d1 + d4, d2 + d5', 'd0, d3, d4, d5', 'd0, d1, d2'],
    reduced: [false, false, false, true, true, true],
  };
  const text = program([executable(convolution)], [callOf(convolution, '%a', '%b')]).toString();
  const found = (backend: string) =>
    dispatchesOf(Buffer.from(`#t = #hal.executable.target<"${backend}", "code">\n${text}`));
  expect(found('llvm-cpu')).toEqual([]);
  expect(found('vulkan-spirv')).toHaveLength(1);
});

describe('weights', () => {
  /** A call of `VECTOR` on each of so many weights. */
  const layers = (count: number, weight: (i: number) => string) =>
    program(
      [executable(VECTOR)],
      Array.from({ length: count }, (_, i) => callOf(VECTOR, i === 0 ? '%x' : `%call${i - 1}`, `%w${i}`)),
      [imported('x', '512xf32'), ...Array.from({ length: count }, (_, i) => weight(i))],
    );
  const argument = (i: number) => imported(`w${i}`, '512x512xf32');
  const buffersOf = (text: Uint8Array) =>
    dispatchesOf(text).map(({ workload }) =>
      workload.context?.dispatch!.arguments.map(({ buffers }) => buffers),
    );

  test('of one layer stay in the caches, so there is no context', () => {
    expect(buffersOf(layers(1, argument))).toEqual([undefined]);
  });

  test('of many layers come from memory, intermediate results do not', () => {
    expect(buffersOf(layers(8, argument))).toEqual([[1, 64, 1]]);
    expect(buffersOf(layers(9, argument))).toEqual([[1, 64, 1]]);
    expect(buffersOf(layers(200, argument))).toEqual([[1, 256, 1]]);
  });

  test('may be globals, constants, or reshaped', () => {
    const loaded = (i: number) => `%w${i} = util.global.load immutable @weight${i} : tensor<512x512xf32>`;
    expect(buffersOf(layers(8, loaded))).toEqual([[1, 64, 1]]);
    const constant = (i: number) =>
      `%w${i} = flow.tensor.constant dense_resource<w${i}> : tensor<512x512xf32>`;
    expect(buffersOf(layers(8, constant))).toEqual([[1, 64, 1]]);
    const reshaped = (i: number) =>
      `${imported(`v${i}`, '1x512x512xf32')}\n    %w${i} = flow.tensor.reshape %v${i} : tensor<1x512x512xf32> -> tensor<512x512xf32>`;
    expect(buffersOf(layers(8, reshaped))).toEqual([[1, 64, 1]]);
  });

  test('that are one buffer stay in the caches', () => {
    const text = program(
      [executable(VECTOR)],
      Array.from({ length: 8 }, () => callOf(VECTOR, '%x', '%w0')),
      [imported('x', '512xf32'), argument(0)],
    );
    expect(buffersOf(text)).toEqual([undefined]);
  });

  describe('with much arithmetic for each byte', () => {
    const products = (count: number, vectorBytes: number) => {
      const calls = Array.from({ length: count }, (_, i) =>
        callOf(MATMUL, i === 0 ? '%x' : `%call${i - 1}`, `%w${i}`),
      );
      const weights = Array.from({ length: count }, (_, i) => argument(i));
      const text = program([executable(MATMUL)], calls, [
        `%x = flow.tensor.empty : tensor<512x512xf32>`,
        ...weights,
      ]);
      const target = `#hal.executable.target<"llvm-cpu", "x", {native_vector_size = ${vectorBytes} : i64}>\n`;
      return Buffer.concat([Buffer.from(`#target = ${target}`), text]);
    };
    test.each([
      ['do not matter', 40, 32],
      ['do not matter where few pass by, however wide vectors are', 20, 64],
    ])('%s', (_, count, vectorBytes) => {
      expect(buffersOf(products(count, vectorBytes))).toEqual([undefined]);
    });
    test('from memory matter to wide vectors in a large program', () => {
      expect(buffersOf(products(40, 64))).toEqual([[1, 64, 1]]);
    });
  });
});
