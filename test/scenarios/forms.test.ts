// A configuration reaches the operations that it was measured for, in any form, and no others.
// In full after a change of src/inject/plan.ts, src/workload/contraction.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { casesOfTier } from '../support/needs.ts';
import { ODD_TILES } from '../support/backend.ts';
import { record } from './faults/support.ts';
import { GENERIC_PRODUCT, turned } from './programs.ts';
import { decisionsOf, HOST, rowsOf, Workplace } from './support.ts';

/** Dumps of the configuration of each dispatch. */
const FLAGS = [...HOST, '--iree-hal-dump-executable-configurations-to=dump'];

/** A workplace in which all operations of `in.mlir` have a record with `ODD_TILES`. */
async function recorded(text: string): Promise<Workplace> {
  const place = new Workplace({ IREE_TUNED_BUDGET: '0' });
  place.write('in.mlir', text);
  await record(place, () => ODD_TILES, [...FLAGS, 'in.mlir', '-o', 'out.vmfb']);
  return place;
}

/** A workplace in which all operations of `in.mlir` were surveyed, and those of the survey have a record with `ODD_TILES`. */
async function surveyed(text: string, flags: readonly string[]): Promise<Workplace> {
  const place = Workplace.simulated({ IREE_TUNED_BUDGET: '0' }, { programs: 'failing' });
  place.write('in.mlir', text);
  const options = ['--trials', '1', '--budget', '300'];
  const { stderr } = await place.tuned(['tune', 'in.mlir', ...options, '--', ...FLAGS, ...flags]);
  expect(stderr).toBe('');
  place.inDatabase((database) =>
    database
      .prepare('UPDATE claim SET configuration = ?, ratio = 2, low = 1.9, high = 2.1')
      .run(JSON.stringify(ODD_TILES)),
  );
  return place;
}

/** Builds by a route. @returns the explanation, and the tiles of all dispatches */
async function build(place: Workplace, route: string, flags: readonly string[] = []) {
  const argv = [...FLAGS, ...flags, 'in.mlir', '-o', 'out.vmfb'];
  const explanation = await place.built(argv, { env: { IREE_TUNED_INJECT: route } });
  const dumps = readdirSync(place.path('dump')).map((name) =>
    readFileSync(join(place.path('dump'), name), 'utf8'),
  );
  const tiles = dumps.map((dump) => /distribution = \[([\d, ]+)\]/.exec(dump)?.[1] ?? null);
  return { explanation, tiles: tiles.sort() };
}

const matmul = (m: number, n: number, k: number, attributes = '') =>
  `%m = linalg.matmul ${attributes} ins(%a, %b : tensor<${m}x${k}xf32>, tensor<${k}x${n}xf32>) outs(%f : tensor<${m}x${n}xf32>) -> tensor<${m}x${n}xf32>`;

const matmulFunction = (name: string, m: number, n: number, k: number, attributes = '') =>
  `func.func @${name}(%a: tensor<${m}x${k}xf32>, %b: tensor<${k}x${n}xf32>, %f: tensor<${m}x${n}xf32>) -> tensor<${m}x${n}xf32> {
  ${matmul(m, n, k, attributes)}
  return %m : tensor<${m}x${n}xf32>
}
`;

/** An operation with a configuration of the user. No spec of ours may match in this module. */
const own = matmulFunction(
  'own',
  64,
  64,
  64,
  '{compilation_info = #iree_codegen.compilation_info<lowering_config = #iree_cpu.lowering_config<distribution = [16, 16, 0], vector_common_parallel = [8, 16, 0], vector_reduction = [0, 0, 4]>, translation_info = #iree_codegen.translation_info<pipeline = #iree_cpu.pipeline<DoubleTilingExpert>>>}',
);

describe('a product that is transposed', { timeout: 120_000 }, () => {
  test('gets its tiles in the order of its loops, by every route', { tags: 'full' }, async () => {
    const place = await recorded(turned(GENERIC_PRODUCT));
    const tiles = [];
    for (const route of ['spec', 'preprocess', 'inline']) {
      const { explanation, tiles: found } = await build(place, route);
      expect(explanation).toMatchObject({ route, applied: null });
      tiles.push(found);
    }
    // A spec matches the generated operation, which was measured.
    expect(tiles[0]!.filter((of) => /48|32/.test(of ?? ''))).toHaveLength(1);
    for (const others of tiles.slice(1)) expect(others).toEqual(tiles[0]);
  });

  test('is distinguished from a plain product of the same form', { tags: 'full' }, async () => {
    const flags = ['--iree-opt-level=O2'];
    const place = await surveyed(
      own + matmulFunction('plain', 96, 128, 64) + turned(matmul(96, 128, 64)),
      flags,
    );
    const { explanation } = await build(place, 'auto', flags);
    expect(explanation.code).not.toBe('tuned-compile-failed');
    expect(rowsOf(place, 'mark')).toBe(0);
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
    const { explanation } = await build(place, 'auto', flags);
    expect(explanation.code).not.toBe('internal-error');
    expect(explanation.operations.filter(({ outcome }) => outcome === 'hit')).toHaveLength(2);
  },
);

/** A product of the maps of a matmul, with the statements of its region. */
const genericOf = (types: readonly [input: string, output: string], statements: string) =>
  `%m = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b : tensor<96x64x${types[0]}>, tensor<64x128x${types[0]}>) outs(%f : tensor<96x128x${types[1]}>) {
  ^bb0(%x: ${types[0]}, %y: ${types[0]}, %o: ${types[1]}):
    ${statements}
  } -> tensor<96x128x${types[1]}>`;

test.each<[string, readonly [string, string], string, string]>(
  casesOfTier(
    [
      [
        'unsigned integers',
        ['i8', 'i32'],
        '%m = linalg.matmul {cast = #linalg.type_fn<cast_unsigned>} ins(%a, %b : tensor<96x64xi8>, tensor<64x128xi8>) outs(%f : tensor<96x128xi32>) -> tensor<96x128xi32>',
        'type-unsupported',
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
        'body-unsupported',
      ],
    ],
    1,
  ),
)(
  'a skipped operation (%s) does not get the configuration of a similar operation',
  { timeout: 120_000 },
  async (_, [input, output], operation, code) => {
    const inFunction = (name: string, body: string) =>
      `func.func @${name}(%a: tensor<96x64x${input}>, %b: tensor<64x128x${input}>, %f: tensor<96x128x${output}>) -> tensor<96x128x${output}> {
  ${body}
  return %m : tensor<96x128x${output}>
}
`;
    const plain = `%m = linalg.matmul ins(%a, %b : tensor<96x64x${input}>, tensor<64x128x${input}>) outs(%f : tensor<96x128x${output}>) -> tensor<96x128x${output}>`;
    const place = await recorded(inFunction('plain', plain) + inFunction('other', operation));
    const { explanation, tiles } = await build(place, 'auto');
    // Its dispatch may be tuned as a whole.
    expect(decisionsOf(explanation).slice(0, 2)).toEqual(['hit: faster', `skipped: ${code}`]);
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
test.each(namings)(
  'a module that is compiled for the name %s',
  { tags: 'full', timeout: 120_000 },
  async (_, attributes, outcome) => {
    const place = await recorded(matmulFunction('two', 192, 96, 64));
    place.write('in.mlir', `module ${attributes} {\n${matmulFunction('two', 192, 96, 64)}}\n`);
    const { explanation } = await build(place, 'auto');
    expect(explanation.operations[0]?.outcome).toBe(outcome);
    expect(explanation.code).toBe(outcome === undefined ? 'own-devices' : null);
  },
);
