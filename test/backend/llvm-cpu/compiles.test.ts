// The rules and the space of llvm-cpu against the real compiler.
// In full after a change of src/backend/llvm-cpu/tile-knobs.ts, src/backend/llvm-cpu/legality.ts.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { runTool, type Toolchain } from '../../../src/measure/toolchain.ts';
import { attributeOf, tiles } from '../../support/backend.ts';
import { buildCandidates } from '../../../src/measure/build.ts';
import { candidateAtLine, type Candidate } from '../../../src/measure/candidate-module.ts';
import type { SearchSpace } from '../../../src/search/space.ts';
import { seededRandom } from '../../../src/search/strategy.ts';
import type { OwnConfiguration } from '../../../src/backend/configuration.ts';
import type { TileConfiguration } from '../../../src/backend/llvm-cpu/configuration.ts';
import { illegality } from '../../../src/backend/llvm-cpu/legality.ts';
import { llvmCpuSpace } from '../../../src/backend/llvm-cpu/tile-space.ts';
import { probeTargets, HOST_FLAGS } from '../../../src/site/probe.ts';
import { hostCpu } from '../../../src/system/processor.ts';
import { distinctFillers, fillerDeclarations } from '../../../src/workload/fillers.ts';
import { fillersOf, workloadKey, type OperationWork } from '../../../src/workload/workload.ts';
import { moduleOf } from '../../measure/together.ts';
import { giveAnswers } from '../../support/answers.ts';
import { temporaryDirectory } from '../../support/folders.ts';
import { isFull } from '../../support/needs.ts';
import { compiler, toolchain } from '../../support/real-tools.ts';
import { matmul, workload } from '../../support/workloads.ts';
import { startsAndRandom } from '../compile-all.ts';

/** The compiler refuses configurations before LLVM, which takes most of the time. */
const UP_TO_LLVM = ['--compile-to=executable-targets'];

let tools: Toolchain;
let upToLlvm: Toolchain;
/** Width of this machine's vectors. */
let nativeVectorBytes: number;
beforeAll(async () => {
  const folder = temporaryDirectory();
  giveAnswers(folder);
  tools = await toolchain(folder);
  upToLlvm = { ...tools, flags: [...tools.flags, ...UP_TO_LLVM] };
  const { targets } = await probeTargets(compiler.executable, HOST_FLAGS, [], hostCpu(), folder);
  ({ nativeVectorBytes } = targets[0]!.target);
});

/** Each limit from both sides, in the rule for this machine's vector width and in the compiler. */
describe('the legality rules agree with the real compiler', () => {
  const shape = matmul(512, 512, 512);
  const base = tiles([64, 64, 0], [8, 32, 0], [0, 0, 4]);
  const around = (unit: number): [string, TileConfiguration][] => {
    // The vector limit is 512 registers: with 8 x 32 x 4 bytes each step of k takes 1024 bytes.
    const steps = (512 * unit) / 1024;
    // The live tile across cache_reduction: 64 rows take 256 bytes a column.
    const columns = (512 * unit) / 256;
    const cached = { cacheReduction: [0, 0, 128] };
    return [
      ['the largest vector', { ...base, vectorReduction: [0, 0, steps - 1] }],
      ['one step more than the largest vector', { ...base, vectorReduction: [0, 0, steps] }],
      ['the largest live tile', { ...base, ...cached, distribution: [64, columns - 8, 0] }],
      [
        'one column block more than the largest live tile',
        { ...base, ...cached, distribution: [64, columns, 0] },
      ],
      [
        'a live tile bounded by cache_parallel',
        { ...base, ...cached, distribution: [0, 0, 0], cacheParallel: [32, 64, 0] },
      ],
      [
        'a workgroup tile that bounds the live tile because it divides',
        { ...base, ...cached, distribution: [512, 16, 0], cacheParallel: [0, 512, 0] },
      ],
      [
        'a workgroup tile that does not divide and so bounds nothing',
        { ...base, ...cached, distribution: [512, 24, 0], cacheParallel: [0, 512, 0] },
      ],
      [
        'a live tile left open in one dimension',
        { ...base, ...cached, distribution: [0, 0, 0], cacheParallel: [0, 64, 0] },
      ],
      ['an inner parallel level', { ...base, vectorInnerParallel: [0, 16, 0] }],
      ['peeling', { ...base, peeling: true }],
    ];
  };

  test('on both sides of every limit', async () => {
    const all = around(nativeVectorBytes).map(([what, configuration], i) => ({
      what,
      name: `c${i}`,
      attribute: attributeOf(configuration, shape, tools.release),
      isLegal: illegality(shape, configuration, { nativeVectorBytes }) === null,
    }));
    const { built } = await buildCandidates(upToLlvm, shape, all, 'limits');
    const verdicts = (isLegal: (one: (typeof all)[number]) => boolean) =>
      all.map((one) => ({ what: one.what, legal: isLegal(one) }));
    const names = built.map(({ name }) => name);
    expect(verdicts(({ isLegal }) => isLegal)).toEqual(verdicts(({ name }) => names.includes(name)));
    expect(new Set(all.map(({ isLegal }) => isLegal))).toEqual(new Set([true, false]));
  });
});

test('a legal configuration also compiles with a fused operation', async () => {
  const [m, n, k] = [128, 768, 512];
  const shape = matmul(m, n, k);
  const compiles = async (rows: number, columns: number): Promise<[isLegal: boolean, compiles: boolean]> => {
    const configuration: TileConfiguration = {
      ...tiles([m, n, 0], [4, 32, 0], [0, 0, 4]),
      ...{ cacheParallel: [rows, columns, 0], cacheReduction: [0, 0, 256] },
    };
    const attribute = attributeOf(configuration, shape, tools.release);
    const text = `func.func @main(%a: tensor<${m}x${k}xf32>, %b: tensor<${k}x${n}xf32>, %before: tensor<${m}x${n}xf32>) -> tensor<${m}x${n}xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<${m}x${n}xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<${m}x${n}xf32>) -> tensor<${m}x${n}xf32>
  %r = linalg.matmul {${attribute!}} ins(%a, %b : tensor<${m}x${k}xf32>, tensor<${k}x${n}xf32>) outs(%f : tensor<${m}x${n}xf32>) -> tensor<${m}x${n}xf32>
  %after = arith.addf %before, %r : tensor<${m}x${n}xf32>
  return %after : tensor<${m}x${n}xf32>
}
`;
    const [source, made] = [join(tools.workDirectory, 'fused.mlir'), join(tools.workDirectory, 'fused.out')];
    writeFileSync(source, text);
    const argv = [...upToLlvm.flags, source, '-o', made];
    const { ok } = await runTool(tools.compiler, argv, 60, tools.signal);
    return [illegality(shape, configuration, { nativeVectorBytes }) === null, ok];
  };
  expect(await compiles(64, 32)).toEqual([true, true]);
  expect(await compiles(96, 64)).toEqual([false, false]);
  const [isLegal, isCompiled] = await compiles(64, 64);
  expect(isLegal).toBe(isCompiled);
});

describe('every configuration of the llvm-cpu space compiles', () => {
  const COUNT = isFull ? 14 : 4;
  function candidatesOf(shape: OperationWork, part = 0) {
    const options = { nativeVectorBytes, vectorRegisters: 32, threads: 1, wholeProgram: true };
    const space = llvmCpuSpace(shape, options) as SearchSpace<OwnConfiguration>;
    const found = startsAndRandom(space, COUNT, seededRandom(11));
    expect(found).toHaveLength(COUNT);
    return found.map((configuration, i): Candidate => ({
      name: `c${part}_${i}`,
      attribute: attributeOf(configuration, shape, tools.release),
      configuration,
    }));
  }

  test('for matmuls, a batched matmul, a matvec, i8 and bf16', { tags: 'full' }, async () => {
    const shapes = [
      matmul(96, 160, 64),
      matmul(97, 101, 103),
      workload({ batch: 3, m: 32, n: 48, k: 64 }),
      workload({ m: 128, k: 256 }),
      matmul(64, 64, 64, ['i8', 'i8', 'i32']),
      matmul(64, 64, 64, ['bf16', 'bf16', 'f32']),
    ];
    const parts = shapes.map((shape, part) => ({ workload: shape, candidates: candidatesOf(shape, part) }));
    const fillers = distinctFillers(shapes.flatMap(fillersOf));
    const text = moduleOf(parts, `module {\n${fillerDeclarations(fillers)}}\n`);
    const [source, made] = ['all.mlir', 'all.out'].map((name) => join(tools.workDirectory, name));
    writeFileSync(source!, text);
    const argv = [...upToLlvm.flags, '--verify=false', source!, '-o', made!];
    const { ok, stderr } = await runTool(tools.compiler, argv, 300, tools.signal);
    const named = new Map(
      parts.flatMap(({ workload, candidates }) =>
        candidates.map(({ name, configuration }) => [name, [workloadKey(workload), configuration]] as const),
      ),
    );
    const refused = [...stderr.matchAll(/\.mlir:(\d+):\d+: error: ([^\n]*)/g)].map(
      ([, line, why]) => [named.get(candidateAtLine(text, Number(line))!), why] as const,
    );
    expect(refused).toEqual([]);
    expect(ok, stderr).toBe(true);
  });

  test('for a vecmat, to machine code', { tags: 'full' }, async () => {
    const shape = workload({ n: 128, k: 256 });
    const candidates = candidatesOf(shape);
    const { refused } = await buildCandidates(tools, shape, candidates, 'vecmat');
    const explained = [...refused].map(([name, why]) => [
      candidates.find((one) => one.name === name)!.configuration,
      why,
    ]);
    expect(explained).toEqual([]);
  });
});
