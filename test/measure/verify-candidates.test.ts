import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { buildCandidates, type Build } from '../../src/measure/build.ts';
import {
  candidateModule,
  candidateOf,
  declaringFillers,
  EMPTY_MODULE,
  truthOf,
  type Candidate,
} from '../../src/measure/candidate-module.ts';
import { runTool, type Toolchain } from '../../src/measure/toolchain.ts';
import { verifyCandidates } from '../../src/measure/verify-candidates.ts';
import { compareOutputs } from '../../src/measure/verify.ts';
import { randomSearch } from '../../src/search/random.ts';
import { seededRandom } from '../../src/search/strategy.ts';
import { llvmCpuSpace } from '../../src/backend/llvm-cpu/tile-space.ts';
import { workloadKey, type Workload } from '../../src/workload/workload.ts';
import { temporaryDirectory } from '../support/folders.ts';
import { outputOf, toolchain } from '../support/real-tools.ts';
import { rememberingCompiler } from '../support/remembering-compiler.ts';
import { matmul, workload } from '../support/workloads.ts';

type Types = Parameters<typeof matmul>[3];

const stock: Candidate = { name: 'stock', attribute: null };
const TIMEOUT = 60;

/** What is wrong with a function: the type it sums in where that is another one, and its text. */
interface Fault {
  readonly sumsIn?: string;
  readonly edit: (text: string) => string;
}

/** A module with the default and with `own`, which is the same but for a fault. */
async function planted(tools: Toolchain, shape: Workload, { sumsIn, edit }: Fault): Promise<Build> {
  const own: Candidate = { name: 'own', attribute: null };
  const others = [stock, ...truthOf(shape)];
  const candidates = [...others, { ...own, ...(sumsIn && { sumsIn }) }];
  const text = candidateModule(shape, candidates, declaringFillers(EMPTY_MODULE, shape));
  const start = text.indexOf('func.func @own(');
  const [source, module] = ['mlir', 'vmfb'].map((ending) => join(tools.workDirectory, `planted.${ending}`));
  writeFileSync(source!, text.slice(0, start) + edit(text.slice(start)));
  const flags = [...tools.flags, '--iree-input-demote-f64-to-f32=false'];
  const { ok, stderr } = await runTool(
    tools.compiler,
    [...flags, source!, '-o', module!],
    TIMEOUT,
    tools.signal,
  );
  expect(ok, stderr).toBe(true);
  return { module: module!, built: [...others, own], refused: new Map() };
}

/** Lets both operands go through lines that make `%short` of `%whole`, a tensor of `type`. */
const shortened = (lines: (type: string) => string): Fault => ({
  edit: (text) =>
    text
      .replace(/^ {2}%(lhs|rhs) = .*(?:->|:) (tensor<\S+)$/gm, (line, name: string, type: string) => {
        const names = (_: string, word: string) => (word === 'whole' ? `%${name}` : `%${name}_${word}`);
        return `${line}\n${lines(type).replaceAll(/%(\w+)/g, names)}`;
      })
      .replace('ins(%lhs, %rhs', 'ins(%lhs_short, %rhs_short'),
});

const through = (wide: string, narrow: string) =>
  shortened((type) => {
    const between = type.replace(wide, narrow);
    return `  %between = arith.truncf %whole : ${type} to ${between}
  %short = arith.extf %between : ${between} to ${type}`;
  });

/** TF32 has the first 10 of f32's 23 bits. */
const throughTf32 = shortened((type) => {
  const bits = type.replace('f32', 'i32');
  return `  %bits = arith.bitcast %whole : ${type} to ${bits}
  %mask = arith.constant dense<-8192> : ${bits}
  %masked = arith.andi %bits, %mask : ${bits}
  %short = arith.bitcast %masked : ${bits} to ${type}`;
});

const summedIn = (narrow: string, wide: string, extension: string): Fault => ({
  sumsIn: narrow,
  edit: (text) =>
    text
      .replace(/(?<=^func.* -> tensor<\S*x)[a-z]\w*(?=> \{)/, wide)
      .replace(/ {2}return %result : (tensor<.*x)\w+>/, (_, shape: string) => {
        const type = `${shape}${wide}>`;
        return `  %wide = ${extension} %result : ${shape}${narrow}> to ${type}\n  return %wide : ${type}`;
      }),
});

const F64: Types = ['f64', 'f64', 'f64'];

describe('a kernel that computes in fewer bits than it should is found out', () => {
  const constant = { ...matmul(16, 24, 512), constantRhs: true };
  const faults: [string, Workload, Fault][] = [
    ['bf16 instead of f32', matmul(16, 24, 1), through('f32', 'bf16')],
    ['bf16 instead of f32', matmul(16, 24, 100), through('f32', 'bf16')],
    ['bf16 instead of f32', matmul(16, 24, 2 ** 16), through('f32', 'bf16')],
    ['bf16 instead of f32', workload({ m: 64, k: 4096 }), through('f32', 'bf16')],
    ['bf16 instead of f32', constant, through('f32', 'bf16')],
    ['TF32 instead of f32', matmul(16, 24, 1), throughTf32],
    ['TF32 instead of f32', matmul(16, 24, 2 ** 16), throughTf32],
    ['f16 instead of f32', matmul(16, 24, 100), through('f32', 'f16')],
    ['f32 instead of f64', matmul(16, 24, 100, F64), through('f64', 'f32')],
    ['f32 instead of f64', matmul(16, 24, 2 ** 16, F64), through('f64', 'f32')],
    ['sums in bf16', matmul(16, 24, 4, ['bf16', 'bf16', 'f32']), summedIn('bf16', 'f32', 'arith.extf')],
    ['sums in i16', matmul(16, 24, 100, ['i8', 'i8', 'i32']), summedIn('i16', 'i32', 'arith.extsi')],
  ];
  test.each(faults.map(([name, shape, fault]) => ({ name: `${name}, ${workloadKey(shape)}`, shape, fault })))(
    '$name',
    async ({ shape, fault }) => {
      const tools = { ...(await toolchain(temporaryDirectory())), compiler: rememberingCompiler };
      const build = await planted(tools, shape, fault);
      const verified = await verifyCandidates(tools, shape, build, 'stock', ['own'], TIMEOUT);
      expect(verified!.get('own')).toEqual({
        outcome: 'wrong-result',
        reason: expect.stringMatching(/^element \d+ is /) as string,
      });
      // Small integers do not tell.
      const [expected, actual] = [
        await outputOf(tools, shape, build.module!, 'stock'),
        await outputOf(tools, shape, build.module!, 'own'),
      ];
      expect(compareOutputs(expected!, actual!, shape.accumulator.elementType).maxError).toBe(0);
    },
  );
});

describe('configurations that only sum in another order are right', () => {
  /** Data tiling where there is any, the first start, and one that nobody thought of. */
  function configurationsOf(shape: Workload) {
    const space = llvmCpuSpace(shape, { nativeVectorBytes: 16, threads: 1, wholeProgram: true });
    const points = randomSearch(space, seededRandom(1)).propose(1);
    return [
      ...space.alternatives,
      ...[...space.starts.slice(0, 1), ...points].map((point) => space.configurationAt(point)!),
    ];
  }
  const types: Types[] = [
    ['f32', 'f32', 'f32'],
    F64,
    ['f16', 'f16', 'f32'],
    ['bf16', 'bf16', 'f32'],
    ['f16', 'f16', 'f16'],
    ['bf16', 'bf16', 'bf16'],
    ['i8', 'i8', 'i32'],
    ['i8', 'i8', 'f32'],
  ];
  const [m, ...others] = matmul(8, 24, 200).dimensions;
  const shapes = [
    ...types.map((own) => matmul(8, 24, 200, own)),
    workload({ batch: 2, m: 16, k: 500 }),
    workload({ n: 40, k: 65 }, ['bf16', 'bf16', 'bf16']),
    workload({ k: 4096 }),
    { ...matmul(16, 16, 3000), constantRhs: true },
    { ...matmul(8, 24, 200), dimensions: [{ ...m!, sizes: [3, 24] }, ...others] },
  ];
  test.each(shapes.map((shape) => ({ key: workloadKey(shape), shape })))('$key', async ({ shape }) => {
    const tools = { ...(await toolchain(temporaryDirectory())), compiler: rememberingCompiler };
    const candidates = configurationsOf(shape).map((configuration, i) =>
      candidateOf(`c${i}`, configuration, shape, tools.release),
    );
    expect(candidates.length).toBeGreaterThanOrEqual(2);
    const build = await buildCandidates(tools, shape, [stock, ...candidates, ...truthOf(shape)], 'm');
    expect([...build.refused]).toEqual([]);
    const names = candidates.map(({ name }) => name);
    const verified = await verifyCandidates(tools, shape, build, 'stock', names, TIMEOUT);
    expect([...verified!.keys()]).toEqual(names);
    for (const verification of verified!.values()) expect(verification).toMatchObject({ outcome: 'right' });
  });
});
