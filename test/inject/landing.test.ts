// Every form of operation, injected by each route, is found in the executables that the real compiler makes.
// In full after a change of src/inject, src/spec.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { applyInsertions, parse } from 'mlir-parser-ts';
import { describe, expect, test } from 'vitest';
import { readArguments } from '../../src/compiler/arguments.ts';
import { describeCompiler } from '../../src/compiler/describe.ts';
import { skipped, type Decision } from '../../src/decision/decision.ts';
import { classify, isTunable } from '../../src/input/operation.ts';
import { planInjection } from '../../src/inject/plan.ts';
import type { Route } from '../../src/settings/settings.ts';
import { compilingWith, makeSubstitutes } from '../../src/inject/substitute.ts';
import { substituteFlag, specFlags } from '../../src/inject/injection-flags.ts';
import { proveLanded } from '../../src/inject/landed.ts';
import {
  DATA_TILE_CONFIGURATION,
  type DataTileConfiguration,
} from '../../src/backend/llvm-cpu/configuration.ts';
import { DEFAULT_CONFIGURATION, type Configuration } from '../../src/backend/configuration.ts';
import { llvmCpuSpace } from '../../src/backend/llvm-cpu/tile-space.ts';
import { HOST_FLAGS } from '../../src/site/probe.ts';
import { elementTypeConversion } from '../../src/input/input.ts';
import { tiles } from '../support/backend.ts';
import { giveAnswers } from '../support/answers.ts';
import { temporaryDirectory } from '../support/folders.ts';
import { casesOfTier, isFull } from '../support/needs.ts';
import { compiler } from '../support/real-tools.ts';
import { rememberingCompiler } from '../support/remembering-compiler.ts';
import { operationWork } from '../support/operation-work.ts';
import { hit, OPTIONS } from './decisions.ts';

type Size = number | '?';
const tensor = (sizes: readonly Size[], type = 'f32') => `tensor<${[...sizes, type].join('x')}>`;
/** A function that makes `%r` of `%x`, `%y` and `%z`. */
const fn = ([x, y, z]: readonly string[], operation: string) =>
  `func.func @main(%x: ${x!}, %y: ${y!}, %z: ${z!}) -> ${z!} {\n  ${operation}\n  return %r : ${z!}\n}\n`;
const named = (operation: string, [x, y, z]: readonly string[]) =>
  fn([x!, y!, z!], `%r = linalg.${operation} ins(%x, %y : ${x!}, ${y!}) outs(%z : ${z!}) -> ${z!}`);
const typesOf = (m: Size, n: Size, k: Size, [x, y, z]: readonly string[] = []) => [
  tensor([m, k], x),
  tensor([k, n], y),
  tensor([m, n], z),
];
const matmul = (m: Size, n: Size, k: Size, types?: readonly string[]) =>
  named('matmul', typesOf(m, n, k, types));

const REGION = `{
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  }`;
const quoted = (types: readonly string[]) =>
  fn(
    types,
    `%r = "linalg.matmul"(%x, %y, %z) <{operandSegmentSizes = array<i32: 2, 1>}> (${REGION}) : (${types.join(', ')}) -> ${types[2]!}`,
  );
const generic = ([x, y, z]: readonly string[]) =>
  fn(
    [x!, y!, z!],
    `%r = linalg.generic {indexing_maps = [affine_map<(k, n, m) -> (m, k)>, affine_map<(k, n, m) -> (k, n)>, affine_map<(k, n, m) -> (m, n)>], iterator_types = ["reduction", "parallel", "parallel"]}
    ins(%x, %y : ${x!}, ${y!}) outs(%z : ${z!}) ${REGION} -> ${z!}`,
  );

/** A function of a program, and the configuration of its operation: by default the first start of its space. */
type Part = readonly [what: string, text: string, configuration?: Configuration];

const same = tiles([16, 32, 0], [4, 16, 0], [0, 0, 2], true);
/** At O2 the compiler folds unit dimensions, and drops the configuration of the matmul. */
const folded: readonly Part[] = [
  ['a matmul of one row', matmul(1, 64, 48)],
  ['a matmul of one row that gets the same as one of many', matmul(1, 64, 40), same],
];
const many: Part = ['a matmul of many rows', matmul(48, 64, 40), same];
/** No two forms have the same sizes: a configuration on one form cannot pass for that of another. */
const forms: readonly Part[] = [
  ['linalg.matmul', matmul(48, 64, 32)],
  [
    'linalg.matmul with a transposed rhs',
    named(
      'matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]',
      [tensor([48, 32]), tensor([72, 32]), tensor([48, 72])],
    ),
  ],
  ['linalg.matmul with other attributes', named('matmul {foo = "a}b", bar}', typesOf(48, 80, 32))],
  ['linalg.matmul in f64, which the compiler demotes', matmul(48, 88, 32, ['f64', 'f64', 'f64'])],
  ['linalg.matmul in mixed precision', matmul(48, 96, 32, ['bf16', 'bf16', 'f32'])],
  ['quoted linalg.matmul', quoted(typesOf(48, 104, 32))],
  ['linalg.generic with its loops in another order', generic(typesOf(48, 112, 32))],
  [
    'linalg.batch_matmul',
    named('batch_matmul', [tensor([3, 32, 64]), tensor([3, 64, 32]), tensor([3, 32, 32])]),
  ],
  ['linalg.matvec', named('matvec', [tensor([48, 64]), tensor([64]), tensor([48])])],
  ['linalg.vecmat', named('vecmat', [tensor([40]), tensor([40, 56]), tensor([56])])],
  ['a matmul with dynamic rows', matmul('?', 64, 32)],
  [
    'a matmul of fewer rows, which gets something else than dynamic ones',
    matmul(8, 64, 32),
    { ...same, distribution: [8, 64, 0] },
  ],
  [
    'a batched matmul of which nothing is static',
    named('batch_matmul', Array<string>(3).fill(tensor(['?', '?', '?']))),
  ],
  ['an i8 matmul with i32 accumulators', matmul(48, 120, 32, ['i8', 'i8', 'i32'])],
  ...folded,
  many,
];

/** Decisions as if the space's first start had won everywhere. */
function decisionsFor(input: Uint8Array): Decision[] {
  const convert = elementTypeConversion(readArguments([], () => 'value'));
  const sizes = { batch: [2], m: [1, 48], n: [64], k: [32] };
  return classify(parse(input).operations, sizes, convert).map((tunable): Decision => {
    if (!isTunable(tunable)) return skipped(tunable);
    const space = llvmCpuSpace(operationWork(tunable.workload), {
      nativeVectorBytes: 16,
      vectorRegisters: 16,
      threads: 1,
      wholeProgram: true,
    });
    const configuration = space.configurationAt(space.starts[0]!);
    return hit(tunable, configuration!);
  });
}

/** Results by the names of the parts. */
const resultsOf = <T>(parts: readonly Part[], results: readonly T[]) =>
  Object.fromEntries(parts.map(([what], i) => [what, results[i]]));

async function land(
  parts: readonly Part[],
  wanted: Route,
  flags: readonly string[] = [],
  executable = rememberingCompiler,
) {
  const folder = temporaryDirectory();
  giveAnswers(folder);
  const input = Buffer.from(parts.map(([, text], i) => text.replace('@main', `@f${i}`)).join(''));
  const { release } = await describeCompiler(compiler.executable, folder);
  const decisions = decisionsFor(input).map((decision, i): Decision => ({
    ...decision,
    configuration: parts[i]![2] ?? decision.configuration,
  }));
  expect(decisions).toHaveLength(parts.length);
  const injection = planInjection(decisions, { ...OPTIONS, wanted, release });
  if (injection.route === 'none') throw new Error(injection.reason);
  const source = join(folder, 'in.mlir');
  writeFileSync(source, injection.route === 'inline' ? applyInsertions(input, injection.insertions) : input);
  let specs = 0;
  const write = (spec: string | Uint8Array) => {
    const path = join(folder, `spec${specs++}.mlir`);
    writeFileSync(path, spec);
    return path;
  };
  const command = [...HOST_FLAGS, ...flags, source];
  const asking = { env: process.env, stdin: undefined, cacheDirectory: folder };
  const flagsOf = async () => {
    if (injection.route === 'inline') return [];
    if (injection.route !== 'substitute') return specFlags(injection, write);
    const compileWith = compilingWith(executable, { argv: command, stdin: undefined }, asking);
    const made = await makeSubstitutes(compileWith, injection.entries!, release, folder, false);
    return made!.map(({ name, phase, text }) => substituteFlag({ name, phase, path: write(text) }));
  };
  const argv = [...(await flagsOf()), ...command];
  const plan = { command: { compiler: { executable } }, decisions, injection: { route: wanted } };
  const landed = await proveLanded({ plan, forExecutables: { argv, stdin: undefined } }, asking);
  return landed && resultsOf(parts, landed);
}

describe.each(casesOfTier(['spec', 'substitute', 'preprocess', 'inline'] as const, 1))('by %s', (route) => {
  // A tuning spec can hang a compiler that configures many executables. The hang is rare: the full tier compiles three times, without memory.
  const mayHang = route === 'spec' || route === 'preprocess';

  test('every form of operation is configured', async () => {
    const executable = mayHang ? compiler.executable : rememberingCompiler;
    for (let round = 0; round < (mayHang && isFull ? 3 : 1); round++)
      expect(await land(forms, route, [], executable)).toEqual(
        resultsOf(forms, Array(forms.length).fill(true)),
      );
  });

  test('a dropped configuration is noticed, even if another operation has the same configuration', async () => {
    const parts = [...folded, many];
    expect(await land(parts, route, ['--iree-opt-level=O2'])).toEqual(resultsOf(parts, [false, false, true]));
  });
});

describe('data tiling', () => {
  const untiled: Part = ['on direct tiles', matmul(48, 64, 32)];
  const dataTiled: Part = ['data-tiled', matmul(127, 63, 255), DATA_TILE_CONFIGURATION];
  const whole = matmul(48, 64, 40);

  test('lands together with an operation on direct tiles, and keeps the default of another operation', async () => {
    const parts: Part[] = [dataTiled, untiled, ['on the default', whole, DEFAULT_CONFIGURATION]];
    expect(await land(parts, 'preprocess')).toEqual(resultsOf(parts, [true, true, null]));
  });

  test('lands on each operation that asks for it', async () => {
    const parts: Part[] = [dataTiled, ['data-tiled, too', whole, DATA_TILE_CONFIGURATION]];
    expect(await land(parts, 'preprocess')).toEqual(resultsOf(parts, [true, true]));
  });
});

describe('tiles of packed operations', () => {
  const packed = (distribution: [number, number], swapped = false): DataTileConfiguration => ({
    version: 1,
    kind: 'data-tile',
    // Every target packs this f32 operation by rows and columns of its own; these are AVX-512's.
    packed: { inner: [16, 16, 1], swapped, distribution, packing: [3, 32] },
  });
  const untiled: Part = ['on direct tiles', matmul(48, 64, 32)];
  const large = matmul(100, 200, 61);

  test('land on their packed operation, together with an operation on direct tiles', async () => {
    // The compiler does not swap the sides of the last operation: it is packed, and gets no tiles.
    const parts: Part[] = [
      ['packed', large, packed([2, 5])],
      untiled,
      ['packed the other way round', matmul(48, 72, 32), packed([2, 4], true)],
    ];
    expect(await land(parts, 'preprocess', ['--iree-llvmcpu-target-cpu=znver4'])).toEqual(
      resultsOf(parts, [true, true, false]),
    );
  });

  test('are missed if the compiler packs in another form, and the others land', async () => {
    const parts: Part[] = [
      ['packed as for AVX-512', large, packed([2, 5])],
      untiled,
      ['data-tiled', matmul(100, 200, 72), DATA_TILE_CONFIGURATION],
    ];
    expect(await land(parts, 'preprocess', ['--iree-llvmcpu-target-cpu=haswell'])).toEqual(
      resultsOf(parts, [false, true, true]),
    );
  });
});
