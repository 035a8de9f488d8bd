// The operands of candidates: made once when their module is loaded, at random, and passed to every function.
import { elementBits, isFloat, isNarrowFloat } from '../workload/element-type.ts';
import { staticForms, type OperandForm, type Workload } from '../workload/workload.ts';
import { tensorType } from './candidate-operation.ts';

/**
 * Bits of the random integers that operands are filled with. Small integers are exact in every element type, and so
 * are their sums, so that outputs do not depend on the order of summation; narrow accumulators take fewer bits, and
 * over a long k they round all the same.
 */
function valueBits(workload: Workload, operand: OperandForm): number {
  return isNarrowFloat(workload.accumulator.elementType) ? 2 : Math.min(4, elementBits(operand.elementType));
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

/** An operand of one or more functions. */
interface Operand {
  readonly name: 'lhs' | 'rhs';
  readonly form: OperandForm;
  /** Name of the global that holds it. */
  readonly global: string;
  /** The workload with the sizes that it is filled in. */
  readonly filled: Workload;
  /** A constant of the program, which the compiler may pack when the module is loaded. */
  readonly constant: boolean;
}

/** Operands of one function: of a workload with dynamic dimensions, those of one combination of sizes. */
type Operands = Readonly<Record<Operand['name'], Operand>>;

/**
 * Operands are made once when the module is loaded and kept as the buffers that a caller would pass. Globals of tensors
 * would be packed into one allocation, and the compiler would make other code for operands with offsets; taken from
 * buffers, the operation compiles to the very instructions that it has in a program.
 */
export function declaration({ global, filled, form, constant }: Operand): string {
  return constant
    ? `util.global private @${global} : ${tensorType(filled, form)}`
    : `util.global private mutable @${global} : !hal.buffer_view`;
}

function store({ global, filled, form, constant }: Operand): string {
  const type = tensorType(filled, form);
  return constant
    ? `  util.global.store %${global}, @${global} : ${type}`
    : `  %${global}_view = hal.tensor.export %${global} : ${type} -> !hal.buffer_view
  util.global.store %${global}_view, @${global} : !hal.buffer_view`;
}

/** Indices of an operand's dimensions whose sizes are only known at run time. */
const dynamicIndices = (workload: Workload, { dimensions }: OperandForm): number[] =>
  dimensions.flatMap((d, i) => (workload.dimensions[d]!.sizes === undefined ? [] : [i]));

export function load(workload: Workload, { name, global, form, constant }: Operand): string {
  const type = tensorType(workload, form);
  if (constant) return `  %${name} = util.global.load @${global} : ${type}`;
  const dynamic = dynamicIndices(workload, form);
  const sizes = dynamic.map(
    (i) => `  %${name}_size${i} = hal.buffer_view.dim<%${name}_view : !hal.buffer_view>[${i}] : index\n`,
  );
  const list = dynamic.length === 0 ? '' : `{${dynamic.map((i) => `%${name}_size${i}`).join(', ')}}`;
  return `  %${name}_view = util.global.load @${global} : !hal.buffer_view
${sizes.join('')}  %${name} = hal.tensor.import %${name}_view : !hal.buffer_view -> ${type}${list}`;
}

/** The result before anything is summed: its dynamic sizes are those of the operands. */
export function emptyResult(workload: Workload): string {
  const { lhs, rhs, accumulator } = workload;
  const sizes = dynamicIndices(workload, accumulator).map((i) => {
    const d = accumulator.dimensions[i]!;
    const inLhs = lhs.dimensions.indexOf(d);
    return inLhs >= 0 ? `%lhs_size${inLhs}` : `%rhs_size${rhs.dimensions.indexOf(d)}`;
  });
  return `tensor.empty(${sizes.join(', ')}) : ${tensorType(workload, accumulator)}`;
}

/** Operands for each combination of sizes; one whose own sizes are static is shared by all. */
export function operandsOf(workload: Workload): Operands[] {
  return staticForms(workload).map((filled, i) => {
    const operand = (name: Operand['name']): Operand => {
      const form = workload[name];
      const isOwn = dynamicIndices(workload, form).length > 0;
      const constant = name === 'rhs' && workload.constantRhs;
      return { name, form, global: isOwn ? `${name}_at${i}` : name, filled, constant };
    };
    return { lhs: operand('lhs'), rhs: operand('rhs') };
  });
}

/**
 * Fills operands one by one. Each asks the finished one before it for its size, only so that both cannot be made in the
 * same step: they would share an allocation, whereas a program's operands are allocated one by one. Where operands of
 * megabytes lie relative to each other changes their speed by half on some processors.
 */
export function initializer(operands: readonly Operand[]): string {
  const steps = operands.map((operand, i) => {
    const before = operands[i - 1];
    const seed =
      before === undefined
        ? `arith.constant 1 : index`
        : `hal.buffer_view.dim<%${before.global}_view : !hal.buffer_view>[0] : index`;
    return `  %${operand.global}_seed = ${seed}
${fill(operand.filled, operand.global, operand.form)}
${store(operand)}`;
  });
  return `util.initializer {
${steps.join('\n')}
  util.return
}`;
}
