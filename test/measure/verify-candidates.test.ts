// In full after a change of src/measure/verify.ts, src/workload/guarded.ts.
import { beforeAll, describe, expect, test } from 'vitest';
import {
  candidateOf,
  declaringFillers,
  EMPTY_MODULE,
  functionNames,
  truthOf,
  type Candidate,
} from '../../src/measure/candidate-module.ts';
import type { Toolchain } from '../../src/measure/toolchain.ts';
import { verifyCandidates } from '../../src/measure/verify-candidates.ts';
import { compareOutputs, exactAllowance } from '../../src/measure/verify.ts';
import { randomSearch } from '../../src/search/random.ts';
import { seededRandom } from '../../src/search/strategy.ts';
import { llvmCpuSpace } from '../../src/backend/llvm-cpu/tile-space.ts';
import { workloadKey, type OperationWork } from '../../src/workload/workload.ts';
import { temporaryDirectory } from '../support/folders.ts';
import { casesOfTier } from '../support/needs.ts';
import { guardedOutputOf, outputOf, toolchain } from '../support/real-tools.ts';
import { matmul, withSizes, workload } from '../support/workloads.ts';
import { compileTogether, moduleOf, type Part } from './together.ts';
import { tiles } from '../support/backend.ts';

type Types = Parameters<typeof matmul>[3];

const TIMEOUT = 60;

/** All tests share one folder, so that the modules that fill operands are compiled once. */
let tools: Toolchain;
beforeAll(async () => {
  tools = await toolchain(temporaryDirectory());
});

const stockOf = (part: number): Candidate => ({ name: `stock${part}`, attribute: null });
const truthsOf = (workload: OperationWork, part: number): Candidate[] =>
  truthOf(workload).map((truth) => ({ ...truth, name: `truth${part}` }));

/** Groups by element type of the operands. The workloads of a group can share a module. */
const byOperands = <T>(all: readonly T[], workloadOf: (one: T) => OperationWork): [string, T[]][] => [
  ...Map.groupBy(all, (one) => workloadOf(one).lhs.elementType),
];

const textOf = (parts: readonly Part[]): string =>
  moduleOf(parts, declaringFillers(EMPTY_MODULE, parts[0]!.workload));

/** Verifies all candidates of a part, except for the default and the truth. */
async function verify(module: string, { workload, candidates }: Part, part: number) {
  const isReference = ({ name }: Candidate) => /^(?:stock|truth)/.test(name);
  const names = candidates.filter((one) => !isReference(one)).map(({ name }) => name);
  const build = { module, built: candidates.filter(isReference), refused: new Map<string, string>() };
  const guarded = candidates[0]!.isGuarded === true ? { ...build, built: candidates } : null;
  const verified = await verifyCandidates(tools, workload, build, `stock${part}`, names, TIMEOUT, guarded);
  expect([...verified!.keys()]).toEqual(names);
  return [...verified!.values()];
}

/** A fault of a function: an edit of its text, and another type of its sums. */
interface Fault {
  readonly sumsIn?: string;
  readonly edit: (text: string) => string;
}

/** Shortens both operands. The lines compute `%short` from `%whole`, a tensor of `type`. */
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

/** TF32 has the upper 10 of f32's 23 mantissa bits. */
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

describe('verification finds a kernel that computes in too few bits', () => {
  const constant = { ...matmul(16, 24, 512), constantRhs: true };
  const faults: [string, OperationWork, Fault][] = [
    ['bf16 instead of f32', matmul(16, 24, 100), through('f32', 'bf16')],
    ['TF32 instead of f32', matmul(16, 24, 2 ** 16), throughTf32],
    ['sums in bf16', matmul(16, 24, 4, ['bf16', 'bf16', 'f32']), summedIn('bf16', 'f32', 'arith.extf')],
    ['sums in i16', matmul(16, 24, 100, ['i8', 'i8', 'i32']), summedIn('i16', 'i32', 'arith.extsi')],
    ['f32 instead of f64', matmul(16, 24, 100, F64), through('f64', 'f32')],
    ['bf16 instead of f32', matmul(16, 24, 1), through('f32', 'bf16')],
    ['bf16 instead of f32', matmul(16, 24, 2 ** 16), through('f32', 'bf16')],
    ['bf16 instead of f32', workload({ m: 64, k: 4096 }), through('f32', 'bf16')],
    ['bf16 instead of f32', constant, through('f32', 'bf16')],
    ['TF32 instead of f32', matmul(16, 24, 1), throughTf32],
    ['f16 instead of f32', matmul(16, 24, 100), through('f32', 'f16')],
    ['f32 instead of f64', matmul(16, 24, 2 ** 16, F64), through('f64', 'f32')],
  ];
  test.each(byOperands(casesOfTier(faults, 2), ([, shape]) => shape))(
    'with operands of %s',
    async (type, own) => {
      // Each faulty function is the default's function with one edit.
      const byShape = [...Map.groupBy(own, ([, shape]) => workloadKey(shape)).values()];
      const planted = byShape.map((some, part) =>
        some.map(([what, , fault], i) => ({ what, fault, name: `own${part}_${i}` })),
      );
      const parts = byShape.map((some, part): Part => {
        const shape = some[0]![1];
        return {
          workload: shape,
          candidates: [
            stockOf(part),
            ...truthsOf(shape, part),
            ...planted[part]!.map(({ name, fault: { sumsIn } }) => ({
              ...{ name, attribute: null },
              ...(sumsIn && { sumsIn }),
            })),
          ],
        };
      });
      const text = planted
        .flat()
        .reduce(
          (whole, { name, fault }) =>
            whole.replace(new RegExp(String.raw`^func\.func @${name}\(\)[^]*?^}`, 'm'), (one) =>
              fault.edit(one),
            ),
          textOf(parts),
        );
      const module = await compileTogether(tools, parts, text, `planted_${type}`);
      const found = await Promise.all(
        parts.map(async (one, part) => {
          const verified = await verify(module, one, part);
          const outputs = await Promise.all(
            [`stock${part}`, ...planted[part]!.map(({ name }) => name)].map((name) =>
              outputOf(tools, one.workload, module, name),
            ),
          );
          return planted[part]!.map(({ what }, i) => ({
            what: `${what}, ${workloadKey(one.workload)}`,
            verified: verified[i],
            // Small integers do not show the fault.
            onIntegers: compareOutputs(outputs[0]!, outputs[i + 1]!, type, exactAllowance(type)),
          }));
        }),
      );
      expect(found.flat()).toEqual(
        found.flat().map(({ what }) => ({
          what,
          verified: { outcome: 'wrong-result', reason: expect.stringMatching(/^element \d+ is /) as string },
          onIntegers: { outcome: 'right', maxError: 0 },
        })),
      );
      expect(found.flat()).toHaveLength(own.length);
    },
  );
});

/** Replaces a 2-D operand by `%short`, which `body` computes as `%value` for each element `%own` at `%i`, `%j`. */
const elementwise = (operand: 'lhs' | 'rhs', body: (elementType: string, type: string) => string): Fault => ({
  edit: (text) =>
    text
      .replace(
        new RegExp(String.raw`^  %${operand} = .*-> (tensor<\S+x(\w+)>)$`, 'm'),
        (line, type: string, element: string) => `${line}
  %short_empty = tensor.empty() : ${type}
  %short = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} outs(%short_empty : ${type}) {
  ^bb0(%old: ${element}):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %own = tensor.extract %${operand}[%i, %j] : ${type}
${body(element, type)}
    linalg.yield %value : ${element}
  } -> ${type}`,
      )
      .replace(/ins\(%lhs, %rhs/, operand === 'lhs' ? 'ins(%short, %rhs' : 'ins(%lhs, %short'),
});

/** Also reads the next row, which is out of bounds for the last row. The extra value is multiplied by 0, so only NaN or infinity shows. */
const readsTooFar = elementwise(
  'lhs',
  (element, type) => `    %one = arith.constant 1 : index
    %next = arith.addi %i, %one : index
    %far = tensor.extract %lhs[%next, %j] : ${type}
    %nothing = arith.constant 0.0 : ${element}
    %product = arith.mulf %far, %nothing : ${element}
    %value = arith.addf %own, %product : ${element}`,
);

/** Omits the last product of each sum. */
const dropsTerm = (k: number) =>
  elementwise(
    'lhs',
    (element) => `    %last = arith.constant ${k - 1} : index
    %is_last = arith.cmpi eq, %j, %last : index
    %nothing = arith.constant 0.0 : ${element}
    %value = arith.select %is_last, %nothing, %own : ${element}`,
  );

/** Writes all rows of its result except the last. */
const leavesRow: Fault = {
  edit: (text) =>
    text.replace(/ {2}return %result : tensor<(\d+)x(\S+)>/, (_, rows: string, row: string) => {
      const [type, part] = [`tensor<${rows}x${row}>`, `tensor<${Number(rows) - 1}x${row}>`];
      const columns = row.split('x')[0]!;
      return `  %part = tensor.extract_slice %result[0, 0] [${Number(rows) - 1}, ${columns}] [1, 1] : ${type} to ${part}
  %unwritten = tensor.empty() : ${type}
  %written = tensor.insert_slice %part into %unwritten[0, 0] [${Number(rows) - 1}, ${columns}] [1, 1] : ${part} into ${type}
  return %written : ${type}`;
    }),
};

describe('verification finds a kernel that omits work', () => {
  const bf16: Types = ['bf16', 'bf16', 'bf16'];
  const faults: [string, OperationWork, Fault][] = [
    ['reads past its last row', matmul(16, 24, 100), readsTooFar],
    ['leaves a row unwritten', matmul(16, 24, 100), leavesRow],
    ['drops a product in f32', matmul(16, 24, 4096), dropsTerm(4096)],
    ['drops one of many products in bf16', matmul(16, 24, 300, bf16), dropsTerm(300)],
    ['drops a product in bf16', matmul(16, 24, 4, bf16), dropsTerm(4)],
  ];
  test.each(casesOfTier(faults, 2))('%s', async (what, shape, fault) => {
    const part: Part = {
      workload: shape,
      candidates: [stockOf(0), ...truthsOf(shape, 0), { name: 'faulty', attribute: null }],
    };
    const text = textOf([part]).replace(/^func\.func @faulty\(\)[^]*?^}/m, (one) => fault.edit(one));
    const module = await compileTogether(tools, [part], text, what.replaceAll(' ', '_'));
    expect(await verify(module, part, 0)).toEqual([
      { outcome: 'wrong-result', reason: expect.stringMatching(/^element \d+ is /) as string },
    ]);
  });
});

test('verification finds an unwritten row whose correct values are zeros', async () => {
  const shape = matmul(16, 24, 100);
  const part: Part = { workload: shape, candidates: [stockOf(0), { name: 'faulty', attribute: null }] };
  // The last row of the left-hand side is zero in both functions.
  const isLast = elementwise(
    'lhs',
    (element) => `    %last = arith.constant 15 : index
    %is_last = arith.cmpi eq, %i, %last : index
    %nothing = arith.constant 0.0 : ${element}
    %value = arith.select %is_last, %nothing, %own : ${element}`,
  );
  const text = textOf([part])
    .replaceAll(/^func\.func @(?:stock0|faulty)\(\)[^]*?^}/gm, (one) => isLast.edit(one))
    .replace(/^func\.func @faulty\(\)[^]*?^}/m, (one) => leavesRow.edit(one));
  const module = await compileTogether(tools, [part], text, 'unwritten_zeros');
  expect(await verify(module, part, 0)).toEqual([
    {
      outcome: 'wrong-result',
      reason: expect.stringMatching(/^element 360 is -\d+ instead of 0$/) as string,
    },
  ]);
});

describe('verification finds a kernel that writes outside of its result', () => {
  const TILES = tiles([128, 128, 0], [8, 32, 0], [0, 0, 4]);
  const shape = matmul(256, 256, 64);
  const type = 'tensor<256x256xf32>';
  const row = 'tensor<1x256xf32>';
  const places: [string, number][] = [
    ['after it', 256],
    ['before it', -1],
  ];
  test.each(casesOfTier(places, 1))('%s', async (_, at) => {
    const guarded = { isGuarded: true };
    const part: Part = {
      workload: shape,
      candidates: [
        { ...stockOf(0), ...guarded },
        { ...candidateOf('right', TILES, shape, tools.release), ...guarded },
        { ...candidateOf('faulty', { ...TILES, peeling: true }, shape, tools.release), ...guarded },
      ],
    };
    // Only the faulty kernel stores the first row of the result again, out of bounds.
    const edit = (text: string) => {
      const planted = text.replace(
        /flow\.executable private @faulty_[^]*?dispatch\.tensor\.store (%\w+), (%\w+), .*\n/,
        (found, result: string, memory: string) => `${found}
        %at = arith.constant ${at} : index
        %row = tensor.extract_slice ${result}[0, 0] [1, 256] [1, 1] : ${type} to ${row}
        iree_tensor_ext.dispatch.tensor.store %row, ${memory}, offsets = [%at, 0], sizes = [1, 256], strides = [1, 1] : ${row} -> !iree_tensor_ext.dispatch.tensor<writeonly:${type}>
`,
      );
      expect(planted).not.toBe(text);
      return planted;
    };
    const module = await compileTogether(tools, [part], textOf([part]), `past${at}`, { phase: 'flow', edit });
    expect(await verify(module, part, 0)).toEqual([
      { outcome: 'right', maxError: expect.any(Number) as number },
      { outcome: 'wrong-result', reason: 'it writes outside of its result' },
    ]);
  });
});

describe('configurations that only sum in another order are correct', () => {
  /** Data tiling if the space has any, the first start, and a random configuration. */
  function configurationsOf(shape: OperationWork) {
    const space = llvmCpuSpace(shape, {
      nativeVectorBytes: 16,
      vectorRegisters: 16,
      threads: 1,
      wholeProgram: true,
    });
    const points = randomSearch(space, seededRandom(1)).propose(1);
    return [
      ...space.alternatives,
      ...[...space.starts.slice(0, 1), ...points].map((point) => space.configurationAt(point)!),
    ];
  }
  const typed: Types[] = [
    F64,
    ['f16', 'f16', 'f32'],
    ['f16', 'f16', 'f16'],
    ['bf16', 'bf16', 'bf16'],
    ['i8', 'i8', 'f32'],
  ];
  const shapes = [
    matmul(8, 24, 200),
    matmul(8, 24, 200, ['bf16', 'bf16', 'f32']),
    matmul(8, 24, 200, ['i8', 'i8', 'i32']),
    { ...matmul(16, 16, 3000), constantRhs: true },
    withSizes(matmul(24, 24, 200), 3, 24),
    workload({ n: 40, k: 65 }, ['bf16', 'bf16', 'bf16']),
    ...typed.map((own) => matmul(8, 24, 200, own)),
    workload({ batch: 2, m: 16, k: 500 }),
    workload({ k: 4096 }),
  ];
  test.each(byOperands(casesOfTier(shapes, 1), (shape) => shape))(
    'with operands of %s',
    async (type, own) => {
      const parts = own.map((shape, part): Part => ({
        workload: shape,
        candidates: [
          stockOf(part),
          ...configurationsOf(shape).map((configuration, i) =>
            candidateOf(`c${part}_${i}`, configuration, shape, tools.release),
          ),
          ...truthsOf(shape, part),
        ].map((one) => ({ ...one, isGuarded: one.sumsIn === undefined })),
      }));
      const module = await compileTogether(tools, parts, textOf(parts), `right_${type}`);
      const found = await Promise.all(
        parts.map(async (one, part) => ({
          what: workloadKey(one.workload),
          outcomes: (await verify(module, one, part)).map(({ outcome }) => outcome),
        })),
      );
      for (const { workload, candidates } of parts) {
        const names = candidates
          .filter((one) => one.isGuarded)
          .flatMap(({ name }) => functionNames(workload, name));
        for (const name of names) {
          const alone = (await outputOf(tools, workload, module, name))!;
          expect(await guardedOutputOf(tools, workload, module, name, alone.length)).toEqual(alone);
        }
      }
      for (const { outcomes } of found) expect(outcomes.length).toBeGreaterThanOrEqual(2);
      expect(found).toEqual(
        found.map(({ what, outcomes }) => ({ what, outcomes: outcomes.map(() => 'right') })),
      );
    },
  );
});
