// Candidates as functions of a program without operands of its own, and what the real compiler makes of them.
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { GpuConfiguration } from '../../../src/backend/gpu/configuration.ts';
import { compilationInfo } from '../../../src/backend/gpu/render.ts';
import { isFloat } from '../../../src/workload/element-type.ts';
import { extentsOf, type OperandForm } from '../../../src/workload/contraction/contraction.ts';
import { operationText } from '../../../src/workload/contraction/text.ts';
import { candidateLoops, type OperationWork } from '../../../src/workload/workload.ts';
import { temporaryDirectory } from '../../support/folders.ts';
import { compiler } from '../../support/installed-tools.ts';

/** Flags that make each of these GPUs the target. */
export const TARGET_FLAGS: Readonly<Record<string, readonly string[]>> = {
  sm_80: ['--iree-hal-target-device=cuda', '--iree-cuda-target=sm_80'],
  sm_89: ['--iree-hal-target-device=cuda', '--iree-cuda-target=sm_89'],
  sm_120: [
    '--iree-hal-target-device=cuda',
    '--iree-cuda-target=sm_120',
    '--iree-cuda-target-features=+ptx87',
  ],
  ...Object.fromEntries(
    ['gfx942', 'gfx950', 'gfx1100'].map((name) => [
      name,
      ['--iree-hal-target-device=hip', `--iree-rocm-target=${name}`],
    ]),
  ),
};

export interface Candidate {
  readonly workload: OperationWork;
  /** Null for the compiler's own choice. */
  readonly configuration: GpuConfiguration | null;
}

const typeOf = (workload: OperationWork, operand: OperandForm) =>
  `tensor<${extentsOf(workload, operand)
    .map((size) => `${size}x`)
    .join('')}${operand.elementType}>`;

/** Text that computes `%result` from `%lhs`, `%rhs` and `%init` by moving a filter over an image. */
function windowText(workload: OperationWork, attribute: string | null): string {
  const { dimensions, lhs, rhs, accumulator, windows = [] } = workload;
  const loops = dimensions.map((_, d) => `d${d}`).join(', ');
  const inside = new Map(windows);
  const isInside = new Set(inside.values());
  const map = (operand: OperandForm) =>
    `affine_map<(${loops}) -> (${operand.dimensions
      .filter((d) => operand !== lhs || !isInside.has(d))
      .map((d) => (operand === lhs && inside.has(d) ? `d${d} + d${inside.get(d)!}` : `d${d}`))
      .join(', ')})>`;
  const [l, r, a] = [lhs, rhs, accumulator].map(({ elementType }) => elementType) as [string, string, string];
  const [float, widen] = isFloat(a) ? ['f', 'arith.extf'] : ['i', 'arith.extsi'];
  const iterators = dimensions.map(({ kind }) => (kind === 'k' ? '"reduction"' : '"parallel"'));
  return `  %result = linalg.generic {indexing_maps = [${[lhs, rhs, accumulator].map(map).join(', ')}], iterator_types = [${iterators.join(', ')}]}
      ins(%lhs, %rhs : ${typeOf(workload, lhs)}, ${typeOf(workload, rhs)}) outs(%init : ${typeOf(workload, accumulator)})${attribute === null ? '' : ` attrs = {${attribute}}`} {
  ^bb0(%l: ${l}, %r: ${r}, %o: ${a}):
${l === a ? '' : `    %lx = ${widen} %l : ${l} to ${a}\n    %rx = ${widen} %r : ${r} to ${a}\n`}    %p = arith.mul${float} ${l === a ? '%l, %r' : '%lx, %rx'} : ${a}
    %s = arith.add${float} %o, %p : ${a}
    linalg.yield %s : ${a}
  } -> ${typeOf(workload, accumulator)}`;
}

export function functionOf(name: string, { workload, configuration }: Candidate): string {
  const { lhs, rhs, accumulator, windows } = workload;
  const [l, r, result] = [lhs, rhs, accumulator].map((operand) => typeOf(workload, operand)) as [
    string,
    string,
    string,
  ];
  const type = accumulator.elementType;
  const attribute =
    configuration && `compilation_info = ${compilationInfo(configuration, candidateLoops(workload))}`;
  return `func.func @${name}(%lhs: ${l}, %rhs: ${r}) -> ${result} {
  %zero = arith.constant ${isFloat(type) ? '0.0' : '0'} : ${type}
  %empty = tensor.empty() : ${result}
  %init = linalg.fill ins(%zero : ${type}) outs(%empty : ${result}) -> ${result}
${windows === undefined ? operationText(workload, attribute) : windowText(workload, attribute)}
  return %result : ${result}
}
`;
}

export interface Compiled {
  /** Messages of the compiler; empty when it made a program. */
  readonly problem: string;
  /** What the dumps say of each candidate's dispatch, in the order of the candidates. */
  readonly dumps: readonly Uint8Array[];
}

/** Compiles candidates as one program, to machine code. */
export function compileAll(
  target: string,
  candidates: readonly Candidate[],
  flags: readonly string[] = [],
): Compiled {
  const folder = temporaryDirectory();
  const path = join(folder, 'candidates.mlir');
  const dumps = join(folder, 'dumps');
  writeFileSync(path, candidates.map((one, i) => functionOf(`c${i}`, one)).join(''));
  const { status, stderr } = spawnSync(
    compiler.executable,
    [
      path,
      ...TARGET_FLAGS[target]!,
      ...flags,
      `--iree-hal-dump-executable-configurations-to=${dumps}`,
      ...['-o', join(folder, 'candidates.vmfb')],
    ],
    { encoding: 'utf8' },
  );
  if (status !== 0) return { problem: stderr || `exit ${status}`, dumps: [] };
  const files = readdirSync(dumps);
  return {
    problem: '',
    dumps: candidates.map((_, i) =>
      readFileSync(
        join(
          dumps,
          files.find((name) => name.includes(`_c${i}_dispatch_`))!,
        ),
      ),
    ),
  };
}
