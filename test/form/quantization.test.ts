// Quantization limited first: the same result for every float.
import { expect, test } from 'vitest';
import { chooseForms } from '../../src/form/choose.ts';
import { isQuantization, readQuantizations } from '../../src/form/quantization.ts';
import { rewritableKey } from '../../src/form/rewritable.ts';
import { readRounding } from '../../src/form/rounding.ts';
import { HOST, preprocessed, resultsOf } from './support.ts';

const COUNT = 1 << 16;

interface Spelling {
  /** Lines of the body between the rounding `%r` and the limits, which give `%m`. */
  readonly moved: string;
  /** Both limits of `%m`, which give `%l`. */
  readonly limited: string;
  readonly sign: 's' | 'u';
}

const programOf = ({ moved, limited, sign }: Spelling) => {
  const floats = `tensor<${COUNT}xf32>`;
  return `func.func @main(%a: ${floats}) -> tensor<${COUNT}xi8> {
  %integer = arith.constant 5 : i64
  %whole = arith.constant 1.190000e+02 : f32
  %broken = arith.constant 1.250000e+00 : f32
  %l0 = arith.constant 0.000000e+00 : f32
  %l1 = arith.constant -1.280000e+02 : f32
  %h0 = arith.constant 2.550000e+02 : f32
  %h1 = arith.constant 1.270000e+02 : f32
  %e = tensor.empty() : tensor<${COUNT}xi8>
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%a, %integer : ${floats}, i64) outs(%e : tensor<${COUNT}xi8>) {
  ^bb0(%x: f32, %z: i64, %out: i8):
    %r = math.roundeven %x : f32
    ${moved}
    ${limited}
    %q = arith.fpto${sign}i %l : f32 to i8
    linalg.yield %q : i8
  } -> tensor<${COUNT}xi8>
  return %0 : tensor<${COUNT}xi8>
}
`;
};

const UNSIGNED = '%k = arith.maxnumf %m, %l0 : f32\n    %l = arith.minnumf %k, %h0 : f32';
const OF_INTEGER = '%f = arith.sitofp %z : i64 to f32\n    %m = arith.addf %r, %f : f32';

const SPELLINGS: Readonly<Record<string, Spelling & { readonly key: string }>> = {
  'an integer as zero point': {
    ...{ moved: OF_INTEGER, limited: UNSIGNED, sign: 'u' },
    key: 'quantize f32->i8 unsigned zero point i64 maxnumf 0 minnumf 255',
  },
  'a float as zero point, and limits in the other order': {
    ...{ moved: '%m = arith.addf %r, %whole : f32', sign: 'u' },
    limited: '%k = arith.minimumf %m, %h0 : f32\n    %l = arith.maximumf %k, %l0 : f32',
    key: 'quantize f32->i8 unsigned zero point f32 minimumf 255 maximumf 0',
  },
  'no zero point, and signed integers': {
    ...{ moved: '', sign: 's' },
    limited: '%k = arith.maxnumf %r, %l1 : f32\n    %l = arith.minnumf %k, %h1 : f32',
    key: 'quantize f32->i8 no zero point maxnumf -128 minnumf 127',
  },
};

/** Halves, their neighbours, and any bits. NaN has no integer if a limit gives NaN. */
function valueAt(i: number): number {
  const bits = new Uint32Array(1);
  const floats = new Float32Array(bits.buffer);
  if (i % 4 === 0) bits[0] = Math.imul(i, 2_654_435_761) >>> 0;
  else {
    floats[0] = ((i % 2048 < 1024 ? 1 : -1) * (i % 1024)) / 2;
    bits[0]! += (i % 5) - 2;
  }
  return Number.isNaN(floats[0]) ? Infinity : floats[0]!;
}

test.each(Object.entries(SPELLINGS))(
  'quantizes as the compiler does: %s',
  async (_, { key, ...spelling }) => {
    const program = programOf(spelling);
    const { found } = readQuantizations(Buffer.from(program));
    expect(found.map(rewritableKey)).toEqual([key]);
    expect(isQuantization(structuredClone(found[0]))).toBe(true);
    expect(readRounding(Buffer.from(program))).toEqual([]);
    const choices = chooseForms(found, {});
    expect(choices.map(({ form }) => form)).toEqual(['limited-first']);
    expect(await preprocessed(program, choices)).not.toContain('roundeven');
    const { written, formed } = await resultsOf(program, choices, [[COUNT]], valueAt, HOST);
    const integers = new Int8Array(written.buffer);
    expect(new Set(integers).size).toBe(256);
    expect(Buffer.compare(Buffer.from(formed.buffer), Buffer.from(written.buffer))).toBe(0);
  },
);

test.each([
  ['a zero point that is no whole number', '%m = arith.addf %r, %broken : f32', UNSIGNED],
  ['one limit', OF_INTEGER, '%l = arith.maxnumf %m, %l0 : f32'],
  ['limits beyond the integers', OF_INTEGER, UNSIGNED.replace('%l0', '%l1')],
])('leaves %s to the rounding alone', (_, moved, limited) => {
  const text = Buffer.from(programOf({ moved, limited, sign: 'u' }));
  expect(readQuantizations(text).found).toEqual([]);
  expect(readRounding(text)).toHaveLength(1);
});

test.each([
  ['broken', '%m = arith.addf %r, %broken : f32'],
  [
    'of a narrow float',
    '%h = arith.truncf %x : f32 to f16\n%f = arith.extf %h : f16 to f32\n%m = arith.addf %r, %f : f32',
  ],
])('a zero point that is %s leaves quantizations with other zero points', (_, moved) => {
  const other = programOf({ moved, limited: UNSIGNED, sign: 'u' });
  const { found, areAll } = readQuantizations(
    Buffer.from(Object.values(SPELLINGS).map(programOf).join('') + other),
  );
  expect(found.map(({ zero }) => zero)).toEqual([{ type: 'i64', isUnsigned: false }, null]);
  expect(areAll).toBe(false);
});

test('a value that is no quantization is none', () => {
  const { found } = readQuantizations(Buffer.from(programOf(Object.values(SPELLINGS)[0]!)));
  const [own] = found as [(typeof found)[0]];
  for (const change of [
    { type: 'i8 loc' },
    { zero: { type: 'f32) attributes', isUnsigned: false } },
    { limits: [own.limits[0], own.limits[0]] },
    { limits: [own.limits[0], { ...own.limits[1], bound: 256 }] },
    { limits: [own.limits[0], { ...own.limits[1], name: 'arith.addf' }] },
    { isUnsigned: 1 },
    { zero: undefined },
  ])
    expect(isQuantization({ ...own, ...change })).toBe(false);
  expect(isQuantization(null)).toBe(false);
});
