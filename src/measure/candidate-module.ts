// One module with many candidates: each is a function without arguments, so that one benchmark process times them
// all interleaved on the same operands.
import { loweringAttribute } from '../inject/attribute.ts';
import type { Configuration, PackedTiles } from '../space/configuration.ts';
import type { Release } from '../space/render.ts';
import { elementBits, isFloat } from '../workload/element-type.ts';
import type { OperandForm, Workload } from '../workload/workload.ts';
import { operationText, tensorType } from './candidate-operation.ts';

export interface Candidate {
  /** Function name, such as `c7`. */
  readonly name: string;
  /** `name = value` on the operation; null leaves it to the compiler. */
  readonly attribute: string | null;
  /** Tiles of what data tiling makes of the operation. */
  readonly packed?: PackedTiles;
}

export function candidateOf(
  name: string,
  configuration: Configuration,
  workload: Workload,
  release: Release,
): Candidate {
  const attribute = loweringAttribute(configuration, workload, release);
  const packed = configuration.kind === 'data-tile' ? configuration.packed : undefined;
  return { name, attribute, ...(packed && { packed }) };
}

/**
 * Bits of the random integers that operands are filled with. Small integers are exact in every element type, and so
 * are their sums, so that outputs do not depend on the order of summation; narrow accumulators take fewer bits.
 */
function valueBits(workload: Workload, operand: OperandForm): number {
  const narrow =
    isFloat(workload.accumulator.elementType) && elementBits(workload.accumulator.elementType) <= 16;
  return narrow ? 2 : Math.min(4, elementBits(operand.elementType));
}

/** Text that makes `%name`, filled with a hash of each element's position and of `%name_seed`. */
function fill(workload: Workload, name: string, operand: OperandForm): string {
  const type = tensorType(workload, operand);
  const rank = operand.dimensions.length;
  const loops = operand.dimensions.map((_, i) => `d${i}`).join(', ');
  const position = operand.dimensions.flatMap((d, i) => [
    `    %i${i} = linalg.index ${i} : index`,
    `    %s${i} = arith.constant ${workload.dimensions[d]!.size} : index`,
    `    %t${i} = arith.muli ${i === 0 ? `%${name}_seed` : `%p${i}`}, %s${i} : index`,
    `    %p${i + 1} = arith.addi %t${i}, %i${i} : index`,
  ]);
  const bits = valueBits(workload, operand);
  const element = operand.elementType;
  const convert = isFloat(element)
    ? `    %v = arith.sitofp %h7 : i32 to ${element}`
    : elementBits(element) === 32
      ? '    %v = arith.addi %h7, %zero : i32'
      : `    %v = arith.${elementBits(element) < 32 ? 'trunci' : 'extsi'} %h7 : i32 to ${element}`;
  return `  %${name}_empty = tensor.empty() : ${type}
  %${name} = linalg.generic {indexing_maps = [affine_map<(${loops}) -> (${loops})>], iterator_types = [${Array<string>(rank).fill('"parallel"').join(', ')}]} outs(%${name}_empty : ${type}) {
  ^bb0(%o: ${element}):
${position.join('\n')}
    %h0 = arith.index_cast %p${rank} : index to i32
    %zero = arith.constant 0 : i32
    %m0 = arith.constant -1640531535 : i32
    %m1 = arith.constant -2048144777 : i32
    %r0 = arith.constant 15 : i32
    %r1 = arith.constant 13 : i32
    %r2 = arith.constant ${32 - bits} : i32
    %h1 = arith.muli %h0, %m0 : i32
    %h2 = arith.shrui %h1, %r0 : i32
    %h3 = arith.xori %h1, %h2 : i32
    %h4 = arith.muli %h3, %m1 : i32
    %h5 = arith.shrui %h4, %r1 : i32
    %h6 = arith.xori %h4, %h5 : i32
    %h7 = arith.shrsi %h6, %r2 : i32
${convert}
    linalg.yield %v : ${element}
  } -> ${type}`;
}

/**
 * An operand, made once when the module is loaded and kept as the buffer that a caller would pass. Globals of tensors
 * would be packed into one allocation, and the compiler would make other code for operands with offsets; taken from
 * buffers, the operation compiles to the very instructions that it has in a program.
 */
const bufferOperand = (name: string, type: string) => ({
  global: `util.global private mutable @${name} : !hal.buffer_view`,
  store: `  %${name}_view = hal.tensor.export %${name} : ${type} -> !hal.buffer_view
  util.global.store %${name}_view, @${name} : !hal.buffer_view`,
  load: `  %${name}_view = util.global.load @${name} : !hal.buffer_view
  %${name} = hal.tensor.import %${name}_view : !hal.buffer_view -> ${type}`,
});

/** A constant of the program, which the compiler may pack when the module is loaded. */
const constantOperand = (name: string, type: string) => ({
  global: `util.global private @${name} : ${type}`,
  store: `  util.global.store %${name}, @${name} : ${type}`,
  load: `  %${name} = util.global.load @${name} : ${type}`,
});

/**
 * Asks the finished lhs for its size, only so that the rhs cannot be made in the same step: both would share an
 * allocation, whereas a program's operands are allocated one by one. Where operands of megabytes lie relative to each
 * other changes their speed by half on some processors.
 */
const SEED_THAT_WAITS = '%rhs_seed = hal.buffer_view.dim<%lhs_view : !hal.buffer_view>[0] : index';

/** Text of the whole module. Line numbers of errors lead back to candidates through `candidateAtLine`. */
export function candidateModule(workload: Workload, candidates: readonly Candidate[]): string {
  const { lhs, rhs, accumulator, constantRhs } = workload;
  const left = bufferOperand('lhs', tensorType(workload, lhs));
  const right = (constantRhs ? constantOperand : bufferOperand)('rhs', tensorType(workload, rhs));
  const type = tensorType(workload, accumulator);
  const element = accumulator.elementType;
  const functions = candidates.map(
    ({ name, attribute }) => `func.func @${name}() -> ${type} {
${left.load}
${right.load}
  %zero = arith.constant ${isFloat(element) ? '0.0' : '0'} : ${element}
  %empty = tensor.empty() : ${type}
  %init = linalg.fill ins(%zero : ${element}) outs(%empty : ${type}) -> ${type}
${operationText(workload, attribute)}
  return %result : ${type}
}`,
  );
  return `${left.global}
${right.global}
util.initializer {
  %lhs_seed = arith.constant 1 : index
${fill(workload, 'lhs', lhs)}
${left.store}
  ${SEED_THAT_WAITS}
${fill(workload, 'rhs', rhs)}
${right.store}
  util.return
}
${functions.join('\n')}
`;
}

/** Name of the function that begins on a line of the module, as it is written or as the compiler prints it. */
export const functionAt = (line: string): string | null =>
  /^\s*(?:func\.func|util\.func public) @(\w+)\(/.exec(line)?.[1] ?? null;

/** Name of the candidate whose function holds a 1-based line of the module's text; null for the common part. */
export function candidateAtLine(moduleText: string, line: number): string | null {
  const lines = moduleText.split('\n');
  for (let i = Math.min(line, lines.length) - 1; i >= 0; i--) {
    const name = functionAt(lines[i]!);
    if (name !== null) return name;
  }
  return null;
}
