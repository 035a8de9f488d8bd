import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { compare, listFiles } from './corpus.ts';
import { readPrint } from './generic-print.ts';
import { examples } from './examples.ts';
import { customForm, quotedForm } from './fixtures.ts';
import { fuzz, mutant } from './fuzz.ts';
import { ireeOpt } from './oracle.ts';

/** oracle.test.ts compares every example, so a few are enough here. */
const names = Object.keys(examples)
  .filter((name) => examples[name]!.known !== false)
  .slice(0, process.env['TEST_FULL'] === '1' ? undefined : 10);

describe.skipIf(ireeOpt === null)('the comparison with iree-opt', { tags: ['compiler'] }, () => {
  let folder = '';
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'mlir-parser-corpus-'));
    mkdirSync(join(folder, 'inside'));
    const texts = {
      'chunks.mlir': names.map((name) => customForm(name)).join('// -----\n'),
      'inside/quoted.mlir': `module {\n${quotedForm('linalg.matmul', '{a}')}}\n`,
      'inside/rejected.mlir': customForm('linalg.matmul').replace('tensor<3x5xf32>', 'tensor<4x5xf32>'),
      'inside/other.txt': customForm('linalg.matmul'),
    };
    for (const [name, text] of Object.entries(texts)) writeFileSync(join(folder, name), text);
  });
  afterAll(() => {
    rmSync(folder, { recursive: true, force: true });
  });

  test('takes every file and every chunk', async () => {
    const files = listFiles(folder);
    expect(files).toHaveLength(3);
    const report = await compare(files);
    expect(report.findings).toEqual([]);
    expect(report.problems).toEqual([]);
    const all = { printed: names.length, found: names.length, inserted: names.length };
    expect(report.chunks).toEqual({ texts: names.length, accepted: names.length, ...all });
    // As a whole, the chunks define one symbol more than once.
    expect(report.whole).toEqual({ ...all, texts: 3, accepted: 1, printed: 1, found: 1, inserted: 1 });
  });
});

test('the generic print is read with its types, maps and dictionary', () => {
  const region = `({
    ^bb0(%x: f32 loc("-":1:2)):
      "linalg.matmul"(%x) : (f32) -> ()
    })`;
  const print = `"builtin.module"() ({
  "transform.named_sequence"() <{sym_name = "m"}> ({
    "linalg.matmul"(%1, %2, %3) : (f32, f32, f32) -> f32 loc("-":2:3)
  }) : () -> () loc("-":1:1)
  %0:2 = "other.region"() ({
    %4 = "linalg.matmul"(%1, %2, %3) <{indexing_maps = [affine_map<(d0, d1)[s0] -> (d1, d0 + s0)>, affine_map<() -> ()>], iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<reduction>]}> ${region} {a = "}) {", b} : (tensor<3x?xf32, #e<"a, b">>, memref<*xi8, 1>, vector<[4]x2xi8>, !torch.vtensor<[3,?],f32>) -> tensor<3x5xf32> loc("-":7:8)
    %5 = "linalg.generic"(%4) <{iterator_types = [#linalg.iterator_type<parallel>]}> ({
    ^bb0(%x: f32):
      %6 = "arith.negf"(%x) : (f32) -> f32
      "linalg.yield"(%6) : (f32) -> ()
    }) : (f32) -> f32 loc("-":8:8)
    %7:2 = "a.b"(%5) : (f32) -> (f32, f32) loc("-":9:8)
  }, {
  }) : () -> (f32, f32) loc("-":3:4)
}) : () -> () loc("-":1:1)`;
  expect(readPrint(print)).toEqual([
    {
      name: 'linalg.matmul',
      location: '7:8',
      types: ['tensor<3x?xf32>', 'memref<*xi8>', 'vector<?x2xi8>', 'vtensor<3x?xf32>'],
      results: ['tensor<3x5xf32>'],
      maps: '2(1,*) 0()',
      iterators: 'parallel reduction',
      dictionary: 'a = "}) {", b',
    },
  ]);
});

test('mutants are the same for the same seed, and break nothing', () => {
  const texts = names.flatMap((name) => [customForm(name), quotedForm(name)]);
  const bytes = texts.map((text) => new TextEncoder().encode(text));
  expect(mutant(bytes, 7, 3)).toEqual(mutant(bytes, 7, 3));
  expect(mutant(bytes, 7, 3)).not.toEqual(mutant(bytes, 8, 3));
  expect(fuzz(texts, 500, 7, 5000).failures).toEqual([]);
});
