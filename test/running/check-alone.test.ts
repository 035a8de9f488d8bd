// @module-tag slow
// Wrong configurations are found by running their dispatches alone, with the real compiler.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { casesOfTier } from '../support/needs.ts';
import { describeDevice } from '../../src/backend/llvm-cpu/cpu.ts';
import type { TileConfiguration } from '../../src/backend/llvm-cpu/configuration.ts';
import { withTrailingFlags } from '../../src/compiler/command.ts';
import { splitProgram } from '../../src/inject/split-program.ts';
import type { MeasuredProgram } from '../../src/running/callable.ts';
import { checkAlone } from '../../src/running/check-alone.ts';
import { compiling } from '../../src/running/compiling.ts';
import { HOST_FLAGS } from '../../src/site/probe.ts';
import { temporaryDirectory } from '../support/folders.ts';
import { compiler, root, runtimeTool } from '../support/real-tools.ts';
import { matmul } from '../support/workloads.ts';

const [m, n, k] = [40, 96, 64];
/** Two products, the first with a function of each element, and a name that needs quotes. */
const PROGRAM = `func.func @"a-b"(%x: tensor<${m}x${k}xf32>, %w: tensor<${k}x${n}xf32>, %v: tensor<${n}x${k}xf32>) -> tensor<${m}x${k}xf32> {
  %zero = arith.constant 0.0 : f32
  %e0 = tensor.empty() : tensor<${m}x${n}xf32>
  %i0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<${m}x${n}xf32>) -> tensor<${m}x${n}xf32>
  %p = linalg.matmul ins(%x, %w : tensor<${m}x${k}xf32>, tensor<${k}x${n}xf32>) outs(%i0 : tensor<${m}x${n}xf32>) -> tensor<${m}x${n}xf32>
  %t = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%p : tensor<${m}x${n}xf32>) outs(%e0 : tensor<${m}x${n}xf32>) {
  ^bb0(%in: f32, %out: f32):
    %y = math.tanh %in : f32
    linalg.yield %y : f32
  } -> tensor<${m}x${n}xf32>
  %e1 = tensor.empty() : tensor<${m}x${k}xf32>
  %i1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<${m}x${k}xf32>) -> tensor<${m}x${k}xf32>
  %r = linalg.matmul ins(%t, %v : tensor<${m}x${n}xf32>, tensor<${n}x${k}xf32>) outs(%i1 : tensor<${m}x${k}xf32>) -> tensor<${m}x${k}xf32>
  return %r : tensor<${m}x${k}xf32>
}`;

const configuration: TileConfiguration = {
  ...{ version: 1, kind: 'tile', distribution: [20, 32, 0] },
  ...{ vectorCommonParallel: [4, 32, 0], vectorReduction: [0, 0, 4], peeling: false },
};

const folder = temporaryDirectory();
const input = join(folder, 'in.mlir');
writeFileSync(input, PROGRAM);
const resumed = (path: string) => withTrailingFlags([...HOST_FLAGS, path], ['--compile-from=flow']);
const [first, second] = ['a-b_dispatch_0', 'a-b_dispatch_1'];

/** A compiler that changes the text of the first executable when it gets a configuration, like a faulty code generator. */
function faulty(name: string, edit: string): string {
  const path = join(folder, name);
  const text = `#!/bin/sh
for argument; do case $argument in
  --iree-hal-substitute-executable-source=${first}=*) sed -i -E '${edit}' "\${argument##*=}" ;;
esac; done
exec '${compiler.executable}' "$@"
`;
  writeFileSync(path, text, { mode: 0o755 });
  return path;
}

const programWith = (executable: string) =>
  ({
    command: { compiler: { ...compiler, executable } },
    inspected: { site: { compiler: { release: [3, 13, 0] } } },
    surroundings: { env: process.env, root },
    limits: { compileSeconds: 600 },
    signal: new AbortController().signal,
  }) as unknown as MeasuredProgram;

async function check(name: string, executable: string) {
  const own = join(folder, `of ${name}`);
  const program = programWith(executable);
  const split = await splitProgram(
    compiling(programWith(compiler.executable)),
    { argv: [...HOST_FLAGS, input], stdin: undefined },
    resumed,
    own,
  );
  if (typeof split === 'string') throw new Error(split);
  const configured = [
    { executable: first, workload: matmul(m, n, k), configuration },
    { executable: second, workload: matmul(m, k, n), configuration },
  ];
  const tools = {
    runModule: runtimeTool('iree-run-module'),
    benchmarkModule: runtimeTool('iree-benchmark-module'),
  };
  const found = await checkAlone(
    { split, resumed, folder: own },
    configured,
    { tools, device: describeDevice('local-sync') },
    program,
  );
  return new Map([...found].map(([key, { outcome }]) => [key, outcome]));
}

test('right configurations pass', async () => {
  expect(await check('right', compiler.executable)).toEqual(new Map());
});

describe('a wrong configuration is found, and the other one passes', () => {
  test.each(
    casesOfTier(
      [
        ['another function of each element', 's/math\\.tanh/math.sin/'],
        ['sums that begin at 1', 's/arith\\.constant 0\\.0+e\\+00/arith.constant 1.000000e+00/'],
        [
          'a factor of 1.001',
          's/(%[a-z0-9_]+) = math\\.tanh (%[a-z]+) : f32(.*)$/%fa = arith.constant 1.001 : f32\\n%fb = arith.mulf \\2, %fa : f32\\n\\1 = math.tanh %fb : f32/',
        ],
        [
          'lower precision',
          's/(%[a-z0-9_]+) = math\\.tanh (%[a-z]+) : f32(.*)$/%fa = arith.truncf \\2 : f32 to f16\\n%fb = arith.extf %fa : f16 to f32\\n\\1 = math.tanh %fb : f32/',
        ],
        [
          'a result behind its place',
          's/^( *)(%[a-z0-9_]+ = hal\\.interface\\.binding\\.subspan .*binding\\(2\\).*)offset\\(%c0\\)/\\1%away = arith.constant 64 : index\\n\\1\\2offset(%away)/',
        ],
      ] as const,
      3,
    ),
  )('%s', async (name, edit) => {
    expect(await check(name, faulty(name.replaceAll(' ', '-'), edit))).toEqual(
      new Map([[first, 'wrong-result']]),
    );
  });
});

test('a configuration that does not compile alone is not checked', async () => {
  const name = 'broken';
  expect((await check(name, faulty(name, 's/math\\.tanh/math.unknown/'))).get(first)).toBe('unchecked');
});
