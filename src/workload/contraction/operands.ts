// The operands of candidates: made once when their module is loaded, at random, and passed to every function.
import { staticForms, type Contraction, type OperandForm } from './contraction.ts';
import { tensorType } from './text.ts';
import { CHOICE, CHOICE_DECLARATION, FACTORS, valueLines } from './values.ts';

/** An operand of one or more functions. */
interface Operand {
  readonly name: 'lhs' | 'rhs';
  readonly form: OperandForm;
  /** Name of the global that holds it. */
  readonly global: string;
  /** The workload with the sizes that it is filled in. */
  readonly filled: Contraction;
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

/** Text that fills the operand. */
function fill({ name, form, global, filled }: Operand): string {
  const shape = form.dimensions.map((d) => filled.dimensions[d]!.size);
  return hashedValues(global, `%${global}_seed`, shape, form.elementType, filled, FACTORS[name]);
}

/**
 * Text that makes `%name`, a tensor of values from a hash of each element's position and of `seed`, an index.
 * @param workload whose results are to be exact
 * @param factor one of `FACTORS`
 */
export function hashedValues(
  name: string,
  seed: string,
  shape: readonly number[],
  elementType: string,
  workload: Contraction,
  factor: number,
): string {
  const type = `tensor<${shape.map((size) => `${size}x`).join('')}${elementType}>`;
  const loops = shape.map((_, i) => `d${i}`).join(', ');
  const identity = `affine_map<(${loops}) -> (${loops})>`;
  const iterators = shape.map(() => '"parallel"').join(', ');
  const position = shape.flatMap((size, i) => [
    `    %i${i} = linalg.index ${i} : index`,
    `    %s${i} = arith.constant ${size} : index`,
    `    %t${i} = arith.muli ${i === 0 ? seed : `%p${i}`}, %s${i} : index`,
    `    %p${i + 1} = arith.addi %t${i}, %i${i} : index`,
  ]);
  return `  %${name}_empty = tensor.empty() : ${type}
  %${name} = linalg.generic {indexing_maps = [${identity}], iterator_types = [${iterators}]} outs(%${name}_empty : ${type}) {
  ^bb0(%o: ${elementType}):
${position.join('\n')}
    %h0 = arith.index_cast ${shape.length === 0 ? seed : `%p${shape.length}`} : index to i32
    %m0 = arith.constant -1640531535 : i32
    %m1 = arith.constant -2048144777 : i32
    %r0 = arith.constant 15 : i32
    %r1 = arith.constant 13 : i32
    %h1 = arith.muli %h0, %m0 : i32
    %h2 = arith.shrui %h1, %r0 : i32
    %h3 = arith.xori %h1, %h2 : i32
    %h4 = arith.muli %h3, %m1 : i32
    %h5 = arith.shrui %h4, %r1 : i32
    %hash = arith.xori %h4, %h5 : i32
${valueLines(workload, elementType, factor)}
  } -> ${type}`;
}

function store({ global, filled, form, constant }: Operand): string {
  const type = tensorType(filled, form);
  return constant
    ? `  util.global.store %${global}, @${global} : ${type}`
    : `  %${global}_view = hal.tensor.export %${global} : ${type} -> !hal.buffer_view
  util.global.store %${global}_view, @${global} : !hal.buffer_view`;
}

/** Indices of an operand's dimensions whose sizes are only known at run time. */
const dynamicIndices = (workload: Contraction, { dimensions }: OperandForm): number[] =>
  dimensions.flatMap((d, i) => (workload.dimensions[d]!.sizes === undefined ? [] : [i]));

export function load(workload: Contraction, { name, global, form, constant }: Operand): string {
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
export function emptyResult(workload: Contraction): string {
  const { lhs, rhs, accumulator } = workload;
  const sizes = dynamicIndices(workload, accumulator).map((i) => {
    const d = accumulator.dimensions[i]!;
    const inLhs = lhs.dimensions.indexOf(d);
    return inLhs >= 0 ? `%lhs_size${inLhs}` : `%rhs_size${rhs.dimensions.indexOf(d)}`;
  });
  return `tensor.empty(${sizes.join(', ')}) : ${tensorType(workload, accumulator)}`;
}

/** Operands for each combination of sizes; one whose own sizes are static is shared by all. */
export function operandsOf(workload: Contraction): Operands[] {
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
${fill(operand)}
${store(operand)}`;
  });
  return `${CHOICE_DECLARATION}
util.initializer {
${CHOICE}
${steps.join('\n')}
  util.return
}`;
}
