// @module-tag slow
// Wrong forms are found by running each operation alone, with the real compiler.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { casesOfTier } from '../../support/needs.ts';
import type { Attention } from '../../../src/form/attention.ts';
import { describeDevice } from '../../../src/backend/llvm-cpu/cpu.ts';
import { chooseForms, type FormChoice } from '../../../src/form/choose.ts';
import type { Convolution } from '../../../src/form/convolution.ts';
import { rewritableKey, type Rewritable } from '../../../src/form/rewritable.ts';
import { formsSpec, REWRITE } from '../../../src/form/spec.ts';
import { widestSums } from '../../../src/form/wide-sums.ts';
import { KeptModules } from '../../../src/plan/kept-modules.ts';
import type { MeasuredProgram } from '../../../src/running/callable.ts';
import { wrongForms } from '../../../src/running/variants/check-forms.ts';
import { HOST_FLAGS } from '../../../src/site/probe.ts';
import type { ReasonCode } from '../../../src/system/reason.ts';
import { rewritingPasses } from '../../../src/spec/pipeline.ts';
import { temporaryDirectory } from '../../support/folders.ts';
import { compiler, root } from '../../support/real-tools.ts';

const tensor = (...shape: number[]) => ({ shape, elementType: 'f32' });
const convolution = (image: number[], filter: number[], result: number[]): Convolution => ({
  ...{ name: 'linalg.conv_2d_nchw_fchw', strides: [1, 1], dilations: [1, 1], steps: 'tensor' },
  ...{ image: tensor(...image), filter: tensor(...filter), result: tensor(...result) },
});
const heads = tensor(2, 16, 32);
const OPERATIONS: readonly Rewritable[] = [
  convolution([1, 8, 10, 10], [16, 8, 3, 3], [1, 16, 8, 8]),
  convolution([1, 16, 8, 8], [24, 16, 1, 1], [1, 24, 8, 8]),
  {
    ...{ name: 'tensor.concat', operands: [tensor(1, 16, 8, 8), tensor(1, 24, 8, 8)] },
    result: tensor(1, 40, 8, 8),
  },
  {
    ...{ name: 'arith.mulf', operands: [tensor(24, 1, 1), tensor(1, 24, 8, 8)] },
    result: tensor(1, 24, 8, 8),
  },
  {
    ...{ name: 'iree_linalg_ext.attention', operands: [heads, heads, heads, tensor()], result: heads },
    loops: [[0, 1, 3], [0, 4, 3], [0, 4, 2], [], [0, 1, 2]],
  },
];
const chosen = chooseForms(OPERATIONS);
const folder = temporaryDirectory();

/** Indices of the operations with a wrong form, and codes of the reasons, if the text of the forms is edited. */
async function wrongIn(
  name: string,
  edit: (spec: string) => string,
  choices: readonly FormChoice[] = chosen,
) {
  const spec = formsSpec(choices);
  const text = edit(spec);
  if (name !== 'right') expect(text).not.toBe(spec);
  const path = join(folder, `${name.replaceAll(' ', '-')}.mlir`);
  writeFileSync(path, text);
  const kept = new KeptModules();
  const argv = [...HOST_FLAGS, 'in.mlir'];
  const program = {
    command: {
      ...{ compiler, argv, expanded: argv, arguments: { input: { kind: 'file', index: HOST_FLAGS.length } } },
      rewriting: { isFormed: true, names: [], files: [path], passes: [rewritingPasses(path, REWRITE)] },
    },
    inspected: {
      site: {
        device: describeDevice('local-sync'),
        target: { key: 'llvm-cpu', target: { triple: 'x86_64-linux-gnu' } },
      },
    },
    surroundings: { env: process.env, root, cacheDirectory: folder },
    limits: { compileSeconds: 600 },
    signal: new AbortController().signal,
    kept,
  } as unknown as MeasuredProgram;
  try {
    const wrong = (await wrongForms(program, choices)) ?? (await wrongForms(program, choices, true))!;
    return choices.flatMap(({ operation }, i) => {
      const reason = wrong.get(rewritableKey(operation));
      return reason === undefined ? [] : [{ culprit: i, code: reason.code }];
    });
  } finally {
    kept.discard();
  }
}

test('right forms pass', { tags: 'full' }, async () => {
  expect(chosen.map(({ form }) => form)).toEqual([
    ...['channels-last', 'pixels-by-filters', 'concat-channels-last', 'without-units'],
    'step-by-step',
  ]);
  expect(await wrongIn('right', (spec) => spec)).toEqual([]);
});

test(
  'an operation that does not compile alone keeps nothing else from its check',
  { tags: 'full' },
  async () => {
    const integers = { shape: heads.shape, elementType: 'i32' };
    const attention = OPERATIONS.at(-1) as Attention;
    const odd = { ...attention, operands: [integers, heads, integers, tensor()] };
    const choices = [...chosen.slice(0, 2), { operation: odd, form: 'step-by-step' }];
    const edit = (spec: string) => spec.replace(/(permutation = )\[0, 3, 1, 2\]/, '$1[0, 3, 2, 1]');
    expect(await wrongIn('odd', edit, choices)).toEqual([{ culprit: 0, code: 'results-differ' }]);
  },
);

test('operations with scalars run alone', async () => {
  const integers = (...shape: number[]) => ({ ...tensor(...shape), elementType: 'i8' });
  const withZeroPoint: Convolution = {
    ...{ name: 'linalg.conv_2d_nchw_fchw_q', strides: [1, 1], dilations: [1, 1] },
    ...{ image: integers(1, 8, 10, 10), filter: integers(16, 8, 3, 3) },
    result: { ...tensor(1, 16, 8, 8), elementType: 'i32' },
  };
  const choices = chooseForms([withZeroPoint, OPERATIONS[1]!]);
  expect(choices.map(({ form }) => form)).toEqual(['windows-by-filters', 'pixels-by-filters']);
  const edit = (spec: string) => spec.replace('arith.muli %x1, %x2', 'arith.addi %x1, %x2');
  expect(await wrongIn('scalars', edit, choices)).toEqual([{ culprit: 0, code: 'results-differ' }]);
});

test('wide sums are compared with exact ones', async () => {
  const narrow = (...shape: number[]) => ({ ...tensor(...shape), elementType: 'bf16' });
  const sums: Rewritable = {
    ...{ kind: 'narrow sums', name: 'linalg.matmul', strides: [], dilations: [], steps: 'none' },
    ...{ factors: [narrow(16, 2048), narrow(2048, 32)], result: narrow(16, 32) },
  };
  const choices = widestSums([sums]);
  // By then, rounding after each product has moved the operation as written by several percent.
  expect(await wrongIn('right', (spec) => spec, choices)).toEqual([]);
  const edit = (spec: string) => spec.replace('arith.addf %x0, %a', 'arith.subf %x0, %a');
  expect(await wrongIn('less its accumulator', edit, choices)).toEqual([
    { culprit: 0, code: 'results-differ' },
  ]);
});

describe('a wrong form is found, and the others pass', () => {
  test.each<[string, string | RegExp, string, number, ReasonCode?]>(
    casesOfTier(
      [
        [
          'rows of the image as columns',
          /(%image : .*permutation = )\[0, 2, 3, 1\]/.source,
          '$1[0, 3, 2, 1]',
          0,
        ],
        [
          'no code',
          String.raw`(%v11 = tensor\.expand_shape) %v10`,
          '%none = tosa.identity %v10 : (tensor<64x24xf32>) -> tensor<64x24xf32>\n$1 %none',
          1,
          'compile-failed',
        ],
        [
          'images joined in the wrong order',
          String.raw`(tensor\.concat dim\(3\)) (%v1), (%v3) : \(([^,]*), ([^)]*)`,
          '$1 $3, $2 : ($5, $4',
          2,
        ],
        ['a sum for a product', '%xy = arith.mulf %x0, %x1', '%xy = arith.addf %x0, %x1', 3],
        [
          'an attention with another scale',
          String.raw`(.*apply_registered_pass .*convert-attention)`,
          `    %scale = transform.structured.match ops{["arith.constant"]} attributes{value = ${(1 / Math.sqrt(32)).toExponential()} : f32} in %done : (!transform.any_op) -> !transform.any_op
    %half = transform.param.constant 0.5 : f32 -> !transform.any_param
    transform.annotate %scale "value" = %half : !transform.any_op, !transform.any_param
$1`,
          4,
        ],
        [
          'a product less its accumulator',
          String.raw`%v14 = arith\.addf (%v11, %v13)`,
          '%v14 = arith.subf $1',
          1,
        ],
        [
          'rows of the filter as columns',
          /(%filter : .*permutation = )\[2, 3, 1, 0\]/.source,
          '$1[3, 2, 1, 0]',
          0,
        ],
        ['rows of the result as columns', /(permutation = )\[0, 3, 1, 2\]/.source, '$1[0, 3, 2, 1]', 0],
        ['no accumulator', String.raw`outs\(%v6 : `, 'outs(%v5 : ', 0],
      ],
      1,
    ),
  )('%s', async (name, from, to, culprit, code = 'results-differ') => {
    expect(await wrongIn(name, (spec) => spec.replace(new RegExp(from), to))).toEqual([{ culprit, code }]);
  });
});
