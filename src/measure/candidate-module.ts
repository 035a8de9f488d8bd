// One module with many candidates: each is a function without arguments, so that one benchmark process times them
// all interleaved on the same operands.
import { elementBits, isFloat } from '../workload/element-type.ts';
import type { OperandForm, Workload } from '../workload/workload.ts';
import { operationText, tensorType } from './candidate-operation.ts';

export interface Candidate {
  /** Function name, such as `c7`. */
  readonly name: string;
  /** `name = value` on the operation; null leaves it to the compiler. */
  readonly attribute: string | null;
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

/** Text of an initializer that fills a global with a hash of each element's position. */
function fill(workload: Workload, name: string, operand: OperandForm, seed: number): string {
  const type = tensorType(workload, operand);
  const rank = operand.dimensions.length;
  const loops = operand.dimensions.map((_, i) => `d${i}`).join(', ');
  const position = operand.dimensions.flatMap((d, i) => [
    `    %i${i} = linalg.index ${i} : index`,
    `    %s${i} = arith.constant ${workload.dimensions[d]!.size} : index`,
    `    %t${i} = arith.muli %p${i}, %s${i} : index`,
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
    %p0 = arith.constant ${seed} : index
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
  } -> ${type}
  util.global.store %${name}, @${name} : ${type}`;
}

const zero = (type: string) => (isFloat(type) ? '0.0' : '0');

/** Text of one candidate's function: `() -> result`. */
function candidateFunction(workload: Workload, { name, attribute }: Candidate): string {
  const { lhs, rhs, accumulator } = workload;
  const [lhsType, rhsType, type] = [lhs, rhs, accumulator].map((operand) => tensorType(workload, operand));
  const element = accumulator.elementType;
  return `func.func @${name}() -> ${type!} {
  %lhs = util.global.load @lhs : ${lhsType!}
  %rhs = util.global.load @rhs : ${rhsType!}
  %zero = arith.constant ${zero(element)} : ${element}
  %empty = tensor.empty() : ${type!}
  %init = linalg.fill ins(%zero : ${element}) outs(%empty : ${type!}) -> ${type!}
${operationText(workload, attribute)}
  return %result : ${type!}
}`;
}

/** Text of the whole module. Line numbers of errors lead back to candidates through `candidateAtLine`. */
export function candidateModule(workload: Workload, candidates: readonly Candidate[]): string {
  const [lhsType, rhsType] = [workload.lhs, workload.rhs].map((operand) => tensorType(workload, operand));
  const splat = (operand: OperandForm) => `dense<${zero(operand.elementType)}>`;
  const constant = workload.constantRhs;
  // A global that is never stored to after initialisation is folded away, hence the @store function; a constant rhs
  // is meant to be folded, except that it should be filled when the module is loaded, not by the compiler.
  return `util.global private mutable @lhs = ${splat(workload.lhs)} : ${lhsType!}
util.global private${constant ? '' : ' mutable'} @rhs${constant ? '' : ` = ${splat(workload.rhs)}`} : ${rhsType!}
util.initializer {
${fill(workload, 'lhs', workload.lhs, 1)}
${fill(workload, 'rhs', workload.rhs, 77)}
  util.return
}
func.func @store(%lhs: ${lhsType!}${constant ? '' : `, %rhs: ${rhsType!}`}) {
  util.global.store %lhs, @lhs : ${lhsType!}
${constant ? '' : `  util.global.store %rhs, @rhs : ${rhsType!}\n`}  return
}
${candidates.map((candidate) => candidateFunction(workload, candidate)).join('\n')}
`;
}

/** Name of the candidate whose function holds a 1-based line of the module's text; null for the common part. */
export function candidateAtLine(moduleText: string, line: number): string | null {
  const lines = moduleText.split('\n');
  for (let i = Math.min(line, lines.length) - 1; i >= 0; i--) {
    const name = /^func\.func @(\w+)\(/.exec(lines[i]!)?.[1];
    if (name !== undefined) return name === 'store' ? null : name;
  }
  return null;
}
