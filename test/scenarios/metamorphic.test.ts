// A change of the input that means nothing changes nothing: builds from the database alone use the same configurations, forms and data
// tiling, and give the same results.
// In full after a change of src/input/canonical.ts, src/running/program-notes.ts.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { reprint } from '../../grammar/test/oracle.ts';
import type { Configuration } from '../../src/backend/configuration.ts';
import type { Explanation } from '../../src/report/explain.ts';
import { SOFTMAX } from '../support/dispatch-programs.ts';
import { runtimeTool } from '../support/installed-tools.ts';
import { casesOfTier, isFull } from '../support/needs.ts';
import { TILE } from '../store/samples.ts';
import { recordMisses } from './faults/support.ts';
import { DEPTHWISE_PROGRAM } from './programs.ts';
import { matmulModule, oddMatmul, Workplace, argv } from './support.ts';

const alone = { env: { IREE_TUNED_BUDGET: '0' } };

/** A pooling in a private function, which is called by a function behind another one. */
const POOLING = `func.func @other(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = arith.addf %x, %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @pool(%x: tensor<1x16x34x34xf32>) -> tensor<1x16x32x32xf32> {
  %zero = arith.constant 0.0 : f32
  %window = tensor.empty() : tensor<3x3xf32>
  %empty = tensor.empty() : tensor<1x16x32x32xf32>
  %filled = linalg.fill ins(%zero : f32) outs(%empty : tensor<1x16x32x32xf32>) -> tensor<1x16x32x32xf32>
  %0 = linalg.pooling_nchw_sum {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>} ins(%x, %window : tensor<1x16x34x34xf32>, tensor<3x3xf32>) outs(%filled : tensor<1x16x32x32xf32>) -> tensor<1x16x32x32xf32>
  return %0 : tensor<1x16x32x32xf32>
}
func.func @main(%x: tensor<1x16x34x34xf32>) -> tensor<1x16x32x32xf32> {
  %0 = call @pool(%x) : (tensor<1x16x34x34xf32>) -> tensor<1x16x32x32xf32>
  return %0 : tensor<1x16x32x32xf32>
}
`;

/** Weights in the text and in a resource. */
const WEIGHTS = `func.func @main(%x: tensor<61x71xf32>) -> tensor<61x67xf32> {
  %w = stablehlo.constant dense<"0x${Array.from({ length: 71 * 67 }, (_, i) => ((i * 7919) % 65536).toString(16).padStart(4, '0') + '003f').join('')}"> : tensor<71x67xf32>
  %b = stablehlo.constant dense_resource<bias> : tensor<61x67xf32>
  %0 = stablehlo.dot %x, %w : (tensor<61x71xf32>, tensor<71x67xf32>) -> tensor<61x67xf32>
  %1 = stablehlo.add %0, %b : tensor<61x67xf32>
  return %1 : tensor<61x67xf32>
}
{-# dialect_resources: { builtin: { bias: "0x04000000${'0000803f00000040'.repeat((61 * 67 - 1) / 2)}0000803f" } } #-}
`;

interface Program {
  readonly name: string;
  readonly text: string;
  /** Shapes of the function's arguments, of f32. */
  readonly inputs: readonly string[];
  /** A workplace without a build. */
  readonly place: () => Workplace;
  /** Configuration to record instead of a search. */
  readonly recorded?: Configuration;
  /** Part of the first build's explanation. */
  readonly found: Readonly<Record<string, unknown>>;
}

const untuned = () => new Workplace({ IREE_TUNED_ON_MISS: 'record' });

/** Programs are faster in other forms. */
function inForms(): Workplace {
  const place = Workplace.simulated();
  place.write('slower', '.');
  return place;
}

/** Programs are faster with data tiling. The dispatches that pack and unpack take no time. */
function withDataTiling(): Workplace {
  const place = Workplace.simulated({}, { isRefusing: true });
  const shorten = 'head -1 "$module.lines" >"$module.first"; mv "$module.first" "$module.lines"';
  place.write('hook', `case $module in *tuned.vmfb) ${shorten} ;; esac`);
  return place;
}

const tuned = (kind: string) => ({
  operations: [expect.objectContaining({ configuration: expect.objectContaining({ kind }) as unknown })],
});
const [lhs, rhs, out] = ['61x71', '71x67', '61x67'];

const programs: readonly Program[] = [
  {
    name: 'a matmul',
    text: oddMatmul,
    inputs: [lhs, rhs, out],
    // The full tier tunes it for real.
    ...(isFull ? { place: () => new Workplace() } : { place: untuned, recorded: TILE }),
    found: tuned('tile'),
  },
  {
    name: 'a whole dispatch',
    text: SOFTMAX,
    inputs: ['4x100x190'],
    place: untuned,
    recorded: { version: 1, kind: 'dispatch-tile', distribution: [1, 20, 0], vector: [1, 4, 38] },
    found: tuned('dispatch-tile'),
  },
  {
    name: 'a convolution in another form',
    text: DEPTHWISE_PROGRAM,
    inputs: ['1x32x66x66', '32x3x3'],
    place: inForms,
    found: { forms: { used: true } },
  },
  {
    ...{ name: 'weights', text: WEIGHTS, inputs: [lhs], found: tuned('tile') },
    ...(isFull ? { place: () => Workplace.simulated() } : { place: untuned, recorded: TILE }),
  },
  {
    name: 'a called pooling',
    text: POOLING,
    inputs: ['1x16x34x34'],
    place: inForms,
    found: { forms: { used: true } },
  },
  {
    name: 'data tiling',
    text: matmulModule(127, 131, 137),
    inputs: ['127x137', '137x131', '127x131'],
    place: withDataTiling,
    found: tuned('data-tile'),
  },
];

const OTHER_NAME = 'torch-jit-export';

/** The changes, each as a function of the text. */
const CHANGES = {
  'another name of the function': (text) => text.replace('@main', `@"${OTHER_NAME}"`),
  'other names of values': (text) => text.replaceAll(/%(\w+)/g, '%v_$1'),
  'another order of functions': (text) => {
    const [, functions, rest] = /^([^]*?)(\{-#[^]*)?$/.exec(text)!;
    return (
      functions!
        .split(/^(?=func\.func)/m)
        .toReversed()
        .join('') + (rest ?? '')
    );
  },
  'dead code': (text) =>
    `func.func private @dead(%x: tensor<8xf32>) -> tensor<8xf32> {\n  return %x : tensor<8xf32>\n}\n${text.replaceAll(/^ {2}return/gm, '  %dead = arith.constant dense<1.0> : tensor<8xf32>\n  %more = math.exp %dead : tensor<8xf32>\n  return')}`,
  'other locations, comments and blanks': (text) =>
    `// A comment.\n${text.replaceAll(/^ {2}(%.*>)$/gm, '\n\t\t$1 // "%x" loc(\n loc("model.py":7:3)')}`,
  'a name of the module': (text) => {
    const [, functions, rest] = /^([^]*?)(\{-#[^]*)?$/.exec(text)!;
    return `module @jit_model {\n${functions!}}\n${rest ?? ''}`;
  },
} as const satisfies Readonly<Record<string, (text: string) => string>>;

const all = (text: string) => Object.values(CHANGES).reduce((now, change) => change(now), text);
const generic = (text: string) => reprint(text, '--mlir-print-op-generic');

/** The decisions, forms and route of a build. */
const used = ({ route, code, forms, operations }: Explanation) => ({
  ...{ route, code },
  forms: forms && {
    used: forms.used,
    code: forms.code,
    operations: forms.operations.toSorted((a, b) => (a.operation < b.operation ? -1 : 1)),
  },
  operations: operations.flatMap(({ workload, outcome, configuration }) =>
    configuration === null ? [] : [{ workload, outcome, configuration }],
  ),
});

/**
 * Builds a text from the database alone.
 * @param name of the function to run
 * @returns the results of the function, as the runtime prints them
 */
async function run(
  place: Workplace,
  { text, inputs }: Pick<Program, 'text' | 'inputs'>,
  name = text.includes(OTHER_NAME) ? OTHER_NAME : 'main',
) {
  place.write('in.mlir', text);
  const explanation = await place.built(argv, alone);
  const arguments_ = inputs.map((shape, i) => {
    const count = shape.split('x').reduce((product, size) => product * Number(size), 1);
    writeFileSync(
      place.path(`${i}.bin`),
      Float32Array.from({ length: count }, (_, at) => Math.sin(at + i)),
    );
    return `--input=${shape}xf32=@${i}.bin`;
  });
  const called = await place.run(runtimeTool('iree-run-module'), [
    '--module=out.vmfb',
    '--device=local-sync',
    `--function=${name}`,
    ...arguments_,
  ]);
  expect(called).toMatchObject({ code: 0, stderr: '' });
  return { explanation, results: called.stdout.toString().replace(/^EXEC @.*\n/, '') };
}

/** Configurations and forms of a build, and the results of its function. */
async function built(...of: Parameters<typeof run>) {
  const { explanation, results } = await run(...of);
  return { ...used(explanation), results };
}

/** A workplace whose database knows the program. */
async function known({ text, place: open, recorded, found }: Program): Promise<Workplace> {
  const place = open();
  place.write('in.mlir', text);
  const first = await place.built(argv);
  if (recorded !== undefined) recordMisses(place, () => recorded);
  else expect(first).toMatchObject(found);
  return place;
}

/** A workplace, and what a build of a program uses there. */
async function before(program: Program) {
  const place = await known(program);
  const expected = await built(place, program);
  expect(expected).toMatchObject(program.found);
  return { place, expected };
}

describe('the same is used', { timeout: 300_000 }, () => {
  test.each(casesOfTier(programs, 1))(
    'after all changes at once, and in the generic form: $name',
    async (program) => {
      const { place, expected } = await before(program);
      for (const change of casesOfTier([(text: string) => generic(all(text)), all, generic], 1))
        expect(await built(place, { ...program, text: change(program.text) })).toEqual(expected);
    },
  );

  test.each(programs)('after each change alone: $name', { tags: 'full' }, async (program) => {
    const { place, expected } = await before(program);
    for (const [name, change] of Object.entries(CHANGES))
      expect({ name, ...(await built(place, { ...program, text: change(program.text) })) }).toEqual({
        name,
        ...expected,
      });
  });
});

test(
  'opsets of ONNX: the same operations and forms are found',
  { tags: 'full', timeout: 300_000 },
  async () => {
    const found = async (opset: number) => {
      const place = untuned();
      const path = join(import.meta.dirname, 'opsets', `${opset}.mlir`);
      const program = { text: readFileSync(path, 'utf8'), inputs: ['1x3x64x64'] };
      const { explanation, results } = await run(place, program, 'main_graph');
      const { operations, forms } = explanation;
      return {
        operations: operations.map(({ operation, workload, code }) => ({
          ...{ operation, code },
          // Opset 13 writes a hardswish with other operations, so a dispatch that contains it computes something else.
          workload: workload?.replace(/ in=\w+$/, ''),
        })),
        forms: forms?.operations,
        results: results.match(/-?\d+\.\d+(?:e-?\d+)?/g)!.map(Number),
      };
    };
    const expected = await found(13);
    expect([expected.operations.length, expected.forms?.length]).toEqual([9, 6]);
    const { results, ...same } = await found(18);
    expect(same).toEqual({ operations: expected.operations, forms: expected.forms });
    const errors = results.map((value, i) => Math.abs(value - expected.results[i]!));
    expect(Math.max(...errors)).toBeLessThan(1e-5);
  },
);

/** Sizes of the tunable work, without the unit dimensions. Both front ends spell its layouts and its contexts differently. */
const sizesOf = (operations: Explanation['operations']) =>
  operations
    .flatMap(({ workload }) => workload ?? [])
    .map((workload) => [...workload.matchAll(/(?<=[=x_])\d+(?=[x_ ])/g)].map(Number))
    .map((sizes) => sizes.filter((size) => size > 1).toSorted((a, b) => a - b))
    .map((sizes) => sizes.join(' '))
    .toSorted();

test('StableHLO and torch: the same work of a network is tuned', { tags: 'full' }, async () => {
  // Two convolutions, a sum over the image and a product.
  const found = async (frontEnd: string) => {
    const place = inForms();
    place.write('in.mlir', readFileSync(join(import.meta.dirname, 'front-ends', `${frontEnd}.mlir`)));
    await place.explain(argv, { env: { IREE_TUNED_BUDGET: '15' } });
    return sizesOf((await place.explain(argv, alone)).explanation.operations);
  };
  const expected = ['16 24 1024', '24 40', '3 3 8 16 32 32'];
  expect({ stablehlo: await found('stablehlo'), torch: await found('torch') }).toEqual({
    stablehlo: expected,
    torch: expected,
  });
});
