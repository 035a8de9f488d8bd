// A configuration reaches the operations that it was measured for, in any form, and no others.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { casesOfTier } from '../support/needs.ts';
import Database from 'better-sqlite3';
import type { TileConfiguration } from '../../src/backend/llvm-cpu/configuration.ts';
import { record } from './faults/support.ts';
import { HOST, Workplace } from './support.ts';

/** A configuration for all shapes below that differs from every default. */
const ODD: TileConfiguration = {
  version: 1,
  kind: 'tile',
  distribution: [48, 32, 0],
  vectorCommonParallel: [4, 16, 0],
  vectorReduction: [0, 0, 2],
  peeling: true,
};

/** Dumps of the configuration of each dispatch. */
const FLAGS = [...HOST, '--iree-hal-dump-executable-configurations-to=dump'];

/** A workplace in which all operations of `in.mlir` have a record with `ODD`. */
async function recorded(text: string): Promise<Workplace> {
  const place = new Workplace({ IREE_TUNED_BUDGET: '0' });
  place.write('in.mlir', text);
  await record(place, () => ODD, [...FLAGS, 'in.mlir', '-o', 'out.vmfb']);
  return place;
}

/** A workplace in which all operations of `in.mlir` were surveyed, and those of the survey have a record with `ODD`. */
async function surveyed(text: string, flags: readonly string[]): Promise<Workplace> {
  const place = Workplace.simulated({ IREE_TUNED_BUDGET: '0' }, { programs: 'failing' });
  place.write('in.mlir', text);
  const options = ['--trials', '1', '--budget', '300'];
  const { stderr } = await place.tuned(['tune', 'in.mlir', ...options, '--', ...FLAGS, ...flags]);
  expect(stderr).toBe('');
  const database = new Database(place.database);
  database
    .prepare('UPDATE claim SET configuration = ?, ratio = 2, low = 1.9, high = 2.1')
    .run(JSON.stringify(ODD));
  database.close();
  return place;
}

/** Builds by a route. @returns the outcome of each operation, and the tiles of all dispatches */
async function build(place: Workplace, route: string, flags: readonly string[] = []) {
  const argv = [...FLAGS, ...flags, 'in.mlir', '-o', 'out.vmfb'];
  const { code, stderr, explanation } = await place.explain(argv, { env: { IREE_TUNED_INJECT: route } });
  const dumps = readdirSync(place.path('dump')).map((name) =>
    readFileSync(join(place.path('dump'), name), 'utf8'),
  );
  const tiles = dumps.map((dump) => /distribution = \[([\d, ]+)\]/.exec(dump)?.[1] ?? null);
  return { code, stderr, explanation, tiles: tiles.sort() };
}

const failures = (place: Workplace) => {
  const database = new Database(place.database);
  const { count } = database.prepare('SELECT count(*) AS count FROM mark').get() as { count: number };
  database.close();
  return count;
};

const matmul = (m: number, n: number, k: number, attributes = '') =>
  `%m = linalg.matmul ${attributes} ins(%a, %b : tensor<${m}x${k}xf32>, tensor<${k}x${n}xf32>) outs(%f : tensor<${m}x${n}xf32>) -> tensor<${m}x${n}xf32>`;

const matmulFunction = (name: string, m: number, n: number, k: number, attributes = '') =>
  `func.func @${name}(%a: tensor<${m}x${k}xf32>, %b: tensor<${k}x${n}xf32>, %f: tensor<${m}x${n}xf32>) -> tensor<${m}x${n}xf32> {
  ${matmul(m, n, k, attributes)}
  return %m : tensor<${m}x${n}xf32>
}
`;

/** The compiler folds the transpose into the product, and loops over n before m. */
const turned = (
  operation: string,
) => `func.func @turned(%a: tensor<96x64xf32>, %b: tensor<64x128xf32>, %f: tensor<96x128xf32>) -> tensor<128x96xf32> {
  ${operation}
  %e = tensor.empty() : tensor<128x96xf32>
  %t = linalg.transpose ins(%m : tensor<96x128xf32>) outs(%e : tensor<128x96xf32>) permutation = [1, 0]
  return %t : tensor<128x96xf32>
}
`;

const generic = `%m = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b : tensor<96x64xf32>, tensor<64x128xf32>) outs(%f : tensor<96x128xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  } -> tensor<96x128xf32>`;

/** An operation with a configuration of the user. No spec of ours may match in this module. */
const own = matmulFunction(
  'own',
  64,
  64,
  64,
  '{compilation_info = #iree_codegen.compilation_info<lowering_config = #iree_cpu.lowering_config<distribution = [16, 16, 0], vector_common_parallel = [8, 16, 0], vector_reduction = [0, 0, 4]>, translation_info = #iree_codegen.translation_info<pipeline = #iree_cpu.pipeline<DoubleTilingExpert>>>}',
);

describe('a product that is transposed', { timeout: 120_000 }, () => {
  test('gets its tiles in the order of its loops, by every route', async () => {
    const place = await recorded(turned(generic));
    const tiles = [];
    for (const route of ['spec', 'preprocess', 'inline']) {
      const { code, stderr, explanation, tiles: found } = await build(place, route);
      expect({ code, stderr, route: explanation.route, applied: explanation.applied }).toEqual({
        ...{ code: 0, stderr: '', route },
        applied: null,
      });
      tiles.push(found);
    }
    // A spec matches the generated operation, which was measured.
    expect(tiles[0]!.filter((of) => /48|32/.test(of ?? ''))).toHaveLength(1);
    expect(tiles[1]).toEqual(tiles[0]);
    expect(tiles[2]).toEqual(tiles[0]);
  });

  test('is distinguished from a plain product of the same form', { tags: 'full' }, async () => {
    const flags = ['--iree-opt-level=O2'];
    const place = await surveyed(
      own + matmulFunction('plain', 96, 128, 64) + turned(matmul(96, 128, 64)),
      flags,
    );
    const { code, stderr, explanation } = await build(place, 'auto', flags);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(explanation.reason ?? '').not.toMatch(/failed/);
    expect(failures(place)).toBe(0);
  });
});

test(
  'an operation that loses a dimension does not keep others from their configurations',
  { timeout: 120_000, tags: 'full' },
  async () => {
    const flags = ['--iree-opt-level=O2'];
    const one = `func.func @one(%a: tensor<1x96x64xf32>, %b: tensor<1x64x128xf32>, %f: tensor<1x96x128xf32>) -> tensor<1x96x128xf32> {
  %m = linalg.batch_matmul ins(%a, %b : tensor<1x96x64xf32>, tensor<1x64x128xf32>) outs(%f : tensor<1x96x128xf32>) -> tensor<1x96x128xf32>
  return %m : tensor<1x96x128xf32>
}
`;
    const place = await surveyed(own + one + matmulFunction('two', 192, 96, 64), flags);
    const { code, stderr, explanation } = await build(place, 'auto', flags);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(explanation.reason ?? '').not.toMatch(/tuning failed/);
    expect(explanation.operations.filter(({ outcome }) => outcome === 'hit')).toHaveLength(2);
  },
);

/** A product of the maps of a matmul, with the statements of its region. */
const genericOf = (types: readonly [input: string, output: string], statements: string) =>
  `%m = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b : tensor<96x64x${types[0]}>, tensor<64x128x${types[0]}>) outs(%f : tensor<96x128x${types[1]}>) {
  ^bb0(%x: ${types[0]}, %y: ${types[0]}, %o: ${types[1]}):
    ${statements}
  } -> tensor<96x128x${types[1]}>`;

test.each<[string, readonly [string, string], string, RegExp]>(
  casesOfTier(
    [
      [
        'unsigned integers',
        ['i8', 'i32'],
        '%m = linalg.matmul {cast = #linalg.type_fn<cast_unsigned>} ins(%a, %b : tensor<96x64xi8>, tensor<64x128xi8>) outs(%f : tensor<96x128xi32>) -> tensor<96x128xi32>',
        /^unsigned integers are not tuned yet$/,
      ],
      [
        'a sum that is truncated',
        ['i8', 'i8'],
        genericOf(
          ['i8', 'i8'],
          `%i = arith.extsi %x : i8 to i32
    %j = arith.extsi %y : i8 to i32
    %u = arith.extsi %o : i8 to i32
    %p = arith.muli %i, %j : i32
    %s = arith.addi %u, %p : i32
    %t = arith.trunci %s : i32 to i8
    linalg.yield %t : i8`,
        ),
        /^not a plain multiply-add$/,
      ],
    ],
    1,
  ),
)(
  'a skipped operation (%s) does not get the configuration of a similar operation',
  { timeout: 120_000 },
  async (_, [input, output], operation, reason) => {
    const inFunction = (name: string, body: string) =>
      `func.func @${name}(%a: tensor<96x64x${input}>, %b: tensor<64x128x${input}>, %f: tensor<96x128x${output}>) -> tensor<96x128x${output}> {
  ${body}
  return %m : tensor<96x128x${output}>
}
`;
    const plain = `%m = linalg.matmul ins(%a, %b : tensor<96x64x${input}>, tensor<64x128x${input}>) outs(%f : tensor<96x128x${output}>) -> tensor<96x128x${output}>`;
    const place = await recorded(inFunction('plain', plain) + inFunction('other', operation));
    const { code, explanation, tiles } = await build(place, 'auto');
    expect(code).toBe(0);
    // Its dispatch may be tuned as a whole.
    expect(explanation.operations.slice(0, 2)).toMatchObject([
      { outcome: 'hit' },
      { outcome: 'skipped', reason: expect.stringMatching(reason) as string },
    ]);
    expect(explanation.route).toBe('inline');
    expect(tiles.filter((of) => of === '48, 32, 0')).toHaveLength(1);
  },
);

const namings: [string, string, string | undefined][] = [
  [
    'by itself',
    'attributes {hal.device.targets = [#hal.device.target<"local", [#hal.executable.target<"llvm-cpu", "embedded-elf-x86_64", {cpu = "generic", cpu_features = "", native_vector_size = 16 : i64, target_triple = "x86_64-unknown-unknown-eabi-elf"}>]> : !hal.device]}',
    undefined,
  ],
  ['by flags', '', 'hit'],
];
test.each(casesOfTier(namings, 1))(
  'a module that is compiled for the name %s',
  { timeout: 120_000 },
  async (_, attributes, outcome) => {
    const place = await recorded(matmulFunction('two', 192, 96, 64));
    place.write('in.mlir', `module ${attributes} {\n${matmulFunction('two', 192, 96, 64)}}\n`);
    const { code, explanation } = await build(place, 'auto');
    expect(code).toBe(0);
    expect(explanation.operations[0]?.outcome).toBe(outcome);
    expect(explanation.reason).toBe(outcome === undefined ? 'the input names its own devices' : null);
  },
);
