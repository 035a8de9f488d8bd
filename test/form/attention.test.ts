// Attention step by step: how it is read, and its results against the compiler's own.
import { expect, test } from 'vitest';
import { isAttention, readAttentions, scoreBytes } from '../../src/form/attention.ts';
import { chooseForms } from '../../src/form/choose.ts';
import { HOST, resultsOf } from './support.ts';
import { casesOfTier } from '../support/needs.ts';

const map = (results: string) => `affine_map<(d0, d1, d2, d3, d4) -> (${results})>`;

/** @param last loops over the elements of a key and over keys, in the order of the program */
function attention({ keys = 96, isMasked = false, isKeyFirst = false, type = 'f32' } = {}): string {
  const [key, depth] = isKeyFirst ? ['d3', 'd4'] : ['d4', 'd3'];
  const maps = [
    map(`d0, d1, ${depth}`),
    map(`d0, ${key}, ${depth}`),
    map(`d0, ${key}, d2`),
    map(''),
    ...(isMasked ? [map(`d0, d1, ${key}`)] : []),
    map('d0, d1, d2'),
  ];
  const [q, k, m] = [
    `tensor<4x48x32x${type}>`,
    `tensor<4x${keys}x32x${type}>`,
    `tensor<4x48x${keys}x${type}>`,
  ];
  const mask = isMasked ? [`%mask: ${m}`] : [];
  return `func.func @main(${[`%q: ${q}`, `%k: ${k}`, `%v: ${k}`, ...mask].join(', ')}) -> ${q} {
  %scale = arith.constant 0.25 : ${type}
  %empty = tensor.empty() : ${q}
  %0 = iree_linalg_ext.attention <indexing_maps = [${maps.join(', ')}]> ins(%q, %k, %v, %scale${isMasked ? ', %mask' : ''} : ${q}, ${k}, ${k}, ${type}${isMasked ? `, ${m}` : ''}) outs(%empty : ${q}) {
  ^bb0(%score: f32):
    iree_linalg_ext.yield %score : f32
  } -> ${q}
  return %0 : ${q}
}
`;
}

test.each([{ isKeyFirst: true }, { isKeyFirst: false }, { isMasked: true }])('%o is read', (change) => {
  const text = Buffer.from(attention(change));
  const [found, ...others] = readAttentions(text);
  expect(others).toEqual([]);
  expect(isAttention(JSON.parse(JSON.stringify(found)))).toBe(true);
  expect(scoreBytes(found!)).toBe(4 * 48 * 96 * 4);
  expect(found!.operands).toHaveLength('isMasked' in change ? 5 : 4);
  expect(chooseForms([found!])).toEqual([{ operation: found, form: 'step-by-step' }]);
});

test('all attentions keep their form if the scores of one take too much memory', () => {
  const [small] = readAttentions(Buffer.from(attention()));
  const [large] = readAttentions(Buffer.from(attention({ keys: 2 ** 21 })));
  expect(chooseForms([small!, large!])).toEqual([]);
});

test.each([
  ['a dynamic size', attention().replaceAll('4x96x32', '4x?x32')],
  ['a second one that is not understood', attention() + attention().replaceAll('ins(', 'inputs(')],
  ['no attention', 'func.func @main() { return }'],
])('a text with %s has no rewritable attention', (_, text) => {
  expect(readAttentions(Buffer.from(text))).toEqual([]);
});

test('an attention of a dynamic size in another function than the copies keeps no copy from its form', () => {
  const text = Buffer.from(attention() + attention().replaceAll('4x96x32', '4x?x32'));
  expect(readAttentions(text)).toEqual([]);
  expect(readAttentions(text, true)).toEqual(readAttentions(Buffer.from(attention())));
});

test.each(casesOfTier([{ isMasked: true }, { isMasked: false }], 1))(
  'the steps give the same numbers: %o',
  async (change) => {
    const text = attention(change);
    const choices = chooseForms(readAttentions(Buffer.from(text)));
    const shapes = [[4, 48, 32], [4, 96, 32], [4, 96, 32], ...(change.isMasked ? [[4, 48, 96]] : [])];
    const valueAt = (element: number, argument: number) => Math.sin(element * (argument + 1));
    const { written, formed } = await resultsOf(text, choices, shapes, valueAt, HOST);
    expect(formed).toHaveLength(written.length);
    const furthest = written.reduce((most, value, i) => Math.max(most, Math.abs(value - formed[i]!)), 0);
    expect(furthest).toBeLessThan(1e-5);
  },
);
