// 1x1 convolutions before padding: their results are written into the padded image, without a copy.
import { join } from 'node:path';
import { writeFileSync } from 'node:fs';
import { parse } from 'mlir-parser-ts';
import { describe, expect, test } from 'vitest';
import { chooseForms, type FormChoice } from '../../src/form/choose.ts';
import { isConvolution, readConvolution, type Convolution } from '../../src/form/convolution.ts';
import { formsSpec, REWRITE } from '../../src/form/spec.ts';
import { pipelineFlags, rewritingPasses } from '../../src/spec/pipeline.ts';
import { temporaryDirectory } from '../support/folders.ts';
import { rememberingCompiler } from '../support/remembering-compiler.ts';
import { HOST, outputOf, resultsOf } from './support.ts';
import { casesOfTier } from '../support/needs.ts';

/** A 1x1 convolution, a ReLU, padding, a depthwise 3x3 convolution, and a 1x1 convolution. */
interface Network {
  readonly batch: number;
  readonly rows: number;
  readonly columns: number;
  /** Of both first convolutions. */
  readonly strides: readonly [number, number];
  /** Before and after the rows and columns of the image. */
  readonly padding: readonly [low: number, high: number];
}

const [CHANNELS, FILTERS, LAST] = [8, 32, 16];

const typeOf = (...shape: number[]) => `tensor<${shape.join('x')}xf32>`;

function networkText({ batch, rows, columns, strides: [first, second], padding: [low, high] }: Network) {
  const over = (size: number, stride: number, filter: number) => Math.floor((size - filter) / stride) + 1;
  const [height, width] = [over(rows, first, 1), over(columns, first, 1)];
  const padded = [height + low + high, width + low + high] as const;
  const [down, right] = [over(padded[0], second, 3), over(padded[1], second, 3)];
  const [image, wide, large, small, last] = [
    typeOf(batch, CHANNELS, rows, columns),
    typeOf(batch, FILTERS, height, width),
    typeOf(batch, FILTERS, ...padded),
    typeOf(batch, FILTERS, down, right),
    typeOf(batch, LAST, down, right),
  ];
  const steps = (stride: number) =>
    `{dilations = dense<1> : vector<2xi64>, strides = dense<${stride}> : vector<2xi64>}`;
  const constant = (name: string, type: string) => {
    const count = type.match(/\d+(?=x)/g)!.reduce((product, size) => product * Number(size), 1);
    const values = Float32Array.from({ length: count }, (_, i) => ((i * 5) % 13) / 8 - 0.7);
    const bytes = Buffer.from(values.buffer).toString('hex');
    return `  %${name} = arith.constant dense<"0x${bytes}"> : ${type}\n`;
  };
  const identity = 'affine_map<(n, c, h, w) -> (n, c, h, w)>';
  return `func.func @main(%image: ${image}) -> ${last} {
${constant('a', typeOf(FILTERS, CHANNELS, 1, 1))}${constant('b', typeOf(FILTERS, 3, 3))}${constant('c', typeOf(LAST, FILTERS, 1, 1))}${constant('bias', typeOf(FILTERS))}  %zero = arith.constant 0.0 : f32
  %wide = tensor.empty() : ${wide}
  %start = linalg.broadcast ins(%bias : ${typeOf(FILTERS)}) outs(%wide : ${wide}) dimensions = [0, 2, 3]
  %small = arith.constant dense<0.0> : ${small}
  %last = arith.constant dense<0.0> : ${last}
  %0 = linalg.conv_2d_nchw_fchw ${steps(first)} ins(%image, %a : ${image}, ${typeOf(FILTERS, CHANNELS, 1, 1)}) outs(%start : ${wide}) -> ${wide}
  %1 = linalg.generic {indexing_maps = [${identity}, ${identity}], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%0 : ${wide}) outs(%wide : ${wide}) {
  ^bb0(%in: f32, %out: f32):
    %r = arith.maximumf %in, %zero : f32
    linalg.yield %r : f32
  } -> ${wide}
  %2 = tensor.pad %1 low[0, 0, ${low}, ${low}] high[0, 0, ${high}, ${high}] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %zero : f32
  } : ${wide} to ${large}
  %3 = linalg.depthwise_conv_2d_nchw_chw ${steps(second)} ins(%2, %b : ${large}, ${typeOf(FILTERS, 3, 3)}) outs(%small : ${small}) -> ${small}
  %4 = linalg.conv_2d_nchw_fchw ${steps(1)} ins(%3, %c : ${small}, ${typeOf(LAST, FILTERS, 1, 1)}) outs(%last : ${last}) -> ${last}
  return %4 : ${last}
}
`;
}

const NETWORK: Network = { batch: 1, rows: 12, columns: 14, strides: [1, 1], padding: [1, 1] };

function convolutionsIn(text: string): Convolution[] {
  const bytes = Buffer.from(text);
  return parse(bytes).operations.flatMap((operation) => readConvolution(operation, bytes) ?? []);
}

/** Choices of a target without packings. */
const choicesIn = (text: string) => chooseForms(convolutionsIn(text), {});
const formsIn = (text: string) => choicesIn(text).map(({ form }) => form);

/** The dispatches of a program in its forms. */
async function dispatchesOf(text: string, choices: readonly FormChoice[]): Promise<string[]> {
  const folder = temporaryDirectory();
  const [input, spec] = [join(folder, 'input.mlir'), join(folder, 'forms.mlir')];
  writeFileSync(input, text);
  writeFileSync(spec, formsSpec(choices));
  const passes = pipelineFlags([rewritingPasses(spec, REWRITE)]);
  const flow = await outputOf(rememberingCompiler, [...HOST, ...passes, '--compile-to=flow', input]);
  return [...flow.matchAll(/flow\.executable\.export public @main_(\w+)/g)].map(([, name]) => name!);
}

const copiesIn = (dispatches: readonly string[]) => dispatches.filter((name) => name.includes('memcpy'));

const networks: [string, Partial<Network>][] = [
  ['padding on one side', { padding: [0, 1], strides: [1, 2] }],
  ['one image', {}],
  ['several images', { batch: 2 }],
  ['strides', { rows: 23, columns: 28, strides: [2, 2] }],
];
describe.each(casesOfTier(networks, 1))('a 1x1 convolution before padding, with %s', (_, own) => {
  const text = networkText({ ...NETWORK, ...own });

  test('writes its result into the padded image', async () => {
    const choices = choicesIn(text);
    expect(formsIn(text)).toEqual(['rows-by-filters', 'shifted-slices-channels-last', 'pixels-by-filters']);
    const collapsed = choices.map((choice, i) =>
      i === 0 ? { ...choice, form: 'pixels-by-filters' } : choice,
    );
    const [before, after] = [await dispatchesOf(text, collapsed), await dispatchesOf(text, choices)];
    expect(copiesIn(before)).not.toEqual([]);
    expect(copiesIn(after)).toEqual([]);
    expect(after.length).toBeLessThan(before.length);
  });

  test('has the results of the written operations', async () => {
    const { batch, rows, columns } = { ...NETWORK, ...own };
    const shape = [batch, CHANNELS, rows, columns];
    const { written, formed } = await resultsOf(
      text,
      choicesIn(text),
      [shape],
      (i) => ((i * 7) % 11) / 8 - 0.5,
    );
    expect(written.length).toBeGreaterThan(0);
    expect(written.every((value, i) => Math.abs(value - formed[i]!) < 1e-4)).toBe(true);
  });
});

test('a network without padding has products of all pixels', () => {
  expect(formsIn(networkText({ ...NETWORK, padding: [0, 0] }))).toEqual([
    'pixels-by-filters',
    'shifted-slices-channels-last',
    'pixels-by-filters',
  ]);
});

test.each([
  ['a single row', { rows: 1 }],
  ['more padding than a filter reads', { padding: [4, 4] }],
] satisfies [string, Partial<Network>][])('%s has a product of all pixels', (_, own) => {
  expect(formsIn(networkText({ ...NETWORK, ...own }))[0]).toBe('pixels-by-filters');
});

test('a target that is no CPU has products of all pixels', () => {
  const forms = chooseForms(convolutionsIn(networkText(NETWORK)), null).map(({ form }) => form);
  expect(forms).not.toContain('rows-by-filters');
});

test('padding counts for readers with groups', () => {
  const [first] = convolutionsIn(networkText(NETWORK));
  const tensor = (...shape: number[]) => ({ shape, elementType: 'f32' });
  const grouped: Convolution = {
    name: 'linalg.conv_2d_ngchw_gfchw',
    image: tensor(1, 4, 8, 14, 16),
    filter: tensor(4, 8, 8, 3, 3),
    result: tensor(1, 4, 8, 12, 14),
    ...{ strides: [1, 1], dilations: [1, 1] },
  };
  expect(isConvolution(grouped)).toBe(true);
  const formOf = (reader: Convolution) => chooseForms([first!, reader], {})[0]!.form;
  expect(formOf(grouped)).toBe('rows-by-filters');
  expect(formOf({ ...grouped, image: tensor(2, 4, 8, 14, 16), result: tensor(2, 4, 8, 12, 14) })).toBe(
    'pixels-by-filters',
  );
});
