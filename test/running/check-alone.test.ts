// @module-tag slow
// Wrong configurations are found by running their dispatches alone, with the real compiler.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { tiles } from '../support/backend.ts';
import { casesOfTier } from '../support/needs.ts';
import { describeDevice } from '../../src/backend/llvm-cpu/cpu.ts';
import { withTrailingFlags } from '../../src/compiler/command.ts';
import { splitProgram } from '../../src/inject/split-program.ts';
import type { MeasuredProgram } from '../../src/running/callable.ts';
import { checkAlone } from '../../src/running/check-alone.ts';
import { compiling } from '../../src/running/compiling.ts';
import { HOST_FLAGS } from '../../src/site/probe.ts';
import { temporaryDirectory } from '../support/folders.ts';
import { compiler, root, runtimeTool } from '../support/real-tools.ts';
import { matmul } from '../support/workloads.ts';

const ROWS = 40;

/** A chain of products with a function of each element between them, and a name that needs quotes. @param columns of all factors */
function chainOf(columns: readonly number[]): string {
  const tensor = (m: number, n: number) => `tensor<${m}x${n}xf32>`;
  const products = columns.slice(1).map((n, i) => {
    const [k, isLast] = [columns[i]!, i === columns.length - 2];
    const type = tensor(ROWS, n);
    return `  %e${i} = tensor.empty() : ${type}
  %i${i} = linalg.fill ins(%zero : f32) outs(%e${i} : ${type}) -> ${type}
  %p${i} = linalg.matmul ins(%x${i}, %w${i} : ${tensor(ROWS, k)}, ${tensor(k, n)}) outs(%i${i} : ${type}) -> ${type}
  %x${i + 1} = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%p${i} : ${type}) outs(%e${i} : ${type}) {
  ^bb0(%in: f32, %out: f32):
    %y = math.${isLast ? 'absf' : 'tanh'} %in : f32
    linalg.yield %y : f32
  } -> ${type}`;
  });
  const last = columns.length - 1;
  const factors = products.map((_, i) => `%w${i}: ${tensor(columns[i]!, columns[i + 1]!)}`).join(', ');
  const type = tensor(ROWS, columns[last]!);
  return `func.func @"a-b"(%x0: ${tensor(ROWS, columns[0]!)}, ${factors}) -> ${type} {
  %zero = arith.constant 0.0 : f32
${products.join('\n')}
  return %x${last} : ${type}
}`;
}

const configuration = tiles([20, 32, 0], [4, 32, 0], [0, 0, 4]);

const folder = temporaryDirectory();
const resumed = (path: string) => withTrailingFlags([...HOST_FLAGS, path], ['--compile-from=flow']);
const PAIR = [64, 96, 64];
const nameOf = (i: number) => `a-b_dispatch_${i}`;
const first = nameOf(0);

/** A compiler that changes the texts of the first executables when they get configurations, like a faulty code generator. */
function faulty(name: string, ...edits: readonly string[]): string {
  const path = join(folder, name);
  const cases = edits.map(
    (edit, i) =>
      `  --iree-hal-substitute-executable-source=${nameOf(i)}=*) sed -i -E '${edit}' "\${argument##*=}" ;;\n`,
  );
  const text = `#!/bin/sh
for argument; do case $argument in
${cases.join('')}esac; done
exec '${compiler.executable}' "$@"
`;
  writeFileSync(path, text, { mode: 0o755 });
  return path;
}

/** An edit that moves the result. */
const moved = (bytes: number) =>
  `s/^( *)(%[a-z0-9_]+ = hal\\.interface\\.binding\\.subspan .*binding\\(2\\).*)offset\\(%c0\\)/\\1%away = arith.constant ${bytes} : index\\n\\1\\2offset(%away)/`;

const programWith = (executable: string) =>
  ({
    command: { compiler: { ...compiler, executable } },
    inspected: { site: { compiler: { release: [3, 13, 0] } } },
    surroundings: { env: process.env, root },
    limits: { compileSeconds: 600 },
    signal: new AbortController().signal,
  }) as unknown as MeasuredProgram;

/** @param isSampled whether stock runs only a sample of its workgroups */
async function check(
  name: string,
  executable: string,
  columns = PAIR,
  isSampled = false,
  text = chainOf(columns),
) {
  const own = join(folder, `of ${name}`);
  const program = programWith(executable);
  const input = join(folder, `${name}.mlir`);
  writeFileSync(input, text);
  const split = await splitProgram(
    compiling(programWith(compiler.executable)),
    { argv: [...HOST_FLAGS, input], stdin: undefined },
    resumed,
    own,
  );
  if (typeof split === 'string') throw new Error(split);
  const configured = columns.slice(1).map((n, i) => ({
    ...{ executable: nameOf(i), workload: matmul(ROWS, n, columns[i]!), configuration },
  }));
  const tools = {
    runModule: runtimeTool('iree-run-module'),
    benchmarkModule: runtimeTool('iree-benchmark-module'),
  };
  const found = await checkAlone(
    { split, folder: own, isSampled },
    configured,
    { tools, device: describeDevice('local-sync') },
    program,
  );
  return new Map([...found].map(([key, { outcome }]) => [key, outcome]));
}

test('right configurations pass', async () => {
  expect(await check('right', compiler.executable)).toEqual(new Map());
});

/** A product of 40 x 64 and 64 x 96 elements, whose dispatch has two results of one size. */
const TWO_RESULTS = `func.func @"a-b"(%x: tensor<40x64xf32>, %w: tensor<64x96xf32>) -> (tensor<40x96xf32>, tensor<96x40xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<40x96xf32>
  %t = tensor.empty() : tensor<96x40xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<40x96xf32>) -> tensor<40x96xf32>
  %p = linalg.matmul ins(%x, %w : tensor<40x64xf32>, tensor<64x96xf32>) outs(%i : tensor<40x96xf32>) -> tensor<40x96xf32>
  %r:2 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1, d0)>], iterator_types = ["parallel", "parallel"]} ins(%p : tensor<40x96xf32>) outs(%e, %t : tensor<40x96xf32>, tensor<96x40xf32>) {
  ^bb0(%in: f32, %o0: f32, %o1: f32):
    %y = math.absf %in : f32
    %z = math.tanh %in : f32
    linalg.yield %y, %z : f32, f32
  } -> (tensor<40x96xf32>, tensor<96x40xf32>)
  return %r#0, %r#1 : tensor<40x96xf32>, tensor<96x40xf32>
}`;

test('two results of one size are compared apart', { tags: 'full' }, async () => {
  const columns = [64, 96];
  const found = (name: string, executable = compiler.executable) =>
    check(name, executable, columns, false, TWO_RESULTS);
  expect(await found('two')).toEqual(new Map());
  for (const [name, edit] of [
    ['wrong-first', 's/math\\.absf/math.sin/'],
    ['wrong-second', 's/math\\.tanh/math.sin/'],
  ] as const)
    expect(await found(name, faulty(name, edit))).toEqual(new Map([[first, 'wrong-result']]));
});

describe('a wrong configuration is found, and the other one passes', () => {
  test.each(
    casesOfTier(
      [
        [
          'a factor of 1.001',
          's/(%[a-z0-9_]+) = math\\.tanh (%[a-z]+) : f32(.*)$/%fa = arith.constant 1.001 : f32\\n%fb = arith.mulf \\2, %fa : f32\\n\\1 = math.tanh %fb : f32/',
        ],
        ['another function of each element', 's/math\\.tanh/math.sin/'],
        ['sums that begin at 1', 's/arith\\.constant 0\\.0+e\\+00/arith.constant 1.000000e+00/'],
        [
          'lower precision',
          's/(%[a-z0-9_]+) = math\\.tanh (%[a-z]+) : f32(.*)$/%fa = arith.truncf \\2 : f32 to f16\\n%fb = arith.extf %fa : f16 to f32\\n\\1 = math.tanh %fb : f32/',
        ],
        ['a result behind its place', moved(64)],
      ] as const,
      1,
    ),
  )('%s', async (name, edit) => {
    expect(await check(name, faulty(name.replaceAll(' ', '-'), edit))).toEqual(
      new Map([[first, 'wrong-result']]),
    );
  });
});

test('a sample of a slow program finds what is wrong', { tags: 'full' }, async () => {
  expect(await check('right sample', compiler.executable, PAIR, true)).toEqual(new Map());
  const executable = faulty('wrong-sample', 's/math\\.tanh/math.sin/');
  expect(await check('wrong sample', executable, PAIR, true)).toEqual(new Map([[first, 'wrong-result']]));
});

test('a wrong result and a crash in one group blame no other configuration', { tags: 'full' }, async () => {
  const executable = faulty('two', 's/math\\.tanh/math.sin/', moved(2 ** 40));
  const found = await check('two', executable, [64, 96, 32, 128, 64, 160, 96]);
  expect(found).toEqual(new Map([first, nameOf(1)].map((one) => [one, 'wrong-result'])));
});

test('a configuration that does not compile alone is not checked', { tags: 'full' }, async () => {
  const name = 'broken';
  expect((await check(name, faulty(name, 's/math\\.tanh/math.unknown/'))).get(first)).toBe('unchecked');
});
