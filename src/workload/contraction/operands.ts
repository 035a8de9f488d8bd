// The operands of candidates: made once when their module is loaded, at random, and passed to every function.
import { staticForms, type Contraction, type OperandForm } from './contraction.ts';
import { tensorType } from './text.ts';
import { elementsOf, FACTORS, fillerOf, fillLines, type Filler } from '../fillers.ts';
import { elementBits, isNarrowFloat } from '../element-type.ts';

/** An operand of one or more functions. */
export interface Operand {
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

/** The size that it is filled in. */
const shapeOf = ({ form, filled }: Operand): number[] =>
  form.dimensions.map((d) => filled.dimensions[d]!.size);

/** What fills the operands. */
export const fillersOf = (operands: readonly Operand[]): Filler[] =>
  operands.map((operand) => fillerOf(operand.form.elementType, elementsOf(shapeOf(operand))));

/** Bits of exact values. Narrow accumulators take fewer, and over a long k they round all the same. */
export const exactBits = (workload: Contraction, elementType: string): number =>
  isNarrowFloat(workload.accumulator.elementType) ? 2 : Math.min(4, elementBits(elementType));

/** Text that fills the operand. */
const fill = (operand: Operand, index: number): string =>
  fillLines({
    name: operand.global,
    shape: shapeOf(operand),
    elementType: operand.form.elementType,
    seed: 1 + 64 * index,
    exactBits: exactBits(operand.filled, operand.form.elementType),
    factor: FACTORS[operand.name],
  });

function store({ global, filled, form, constant }: Operand): string {
  const type = tensorType(filled, form);
  return constant
    ? `  %${global} = hal.tensor.import %${global}_view : !hal.buffer_view -> ${type}
  util.global.store %${global}, @${global} : ${type}`
    : `  util.global.store %${global}_view, @${global} : !hal.buffer_view`;
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

/** The dynamic sizes of the result, as values in the text: they are those of the operands. */
export const resultSizes = (workload: Contraction): string[] =>
  dynamicIndices(workload, workload.accumulator).map((i) => {
    const { lhs, rhs, accumulator } = workload;
    const d = accumulator.dimensions[i]!;
    const inLhs = lhs.dimensions.indexOf(d);
    return inLhs >= 0 ? `%lhs_size${inLhs}` : `%rhs_size${rhs.dimensions.indexOf(d)}`;
  });

/** The result before anything is summed. */
export const emptyResult = (workload: Contraction): string =>
  `tensor.empty(${resultSizes(workload).join(', ')}) : ${tensorType(workload, workload.accumulator)}`;

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

/** Fills operands one by one, each in an allocation of its own, as a program's are. */
export const initializer = (operands: readonly Operand[]): string =>
  `util.initializer {
${operands.map((operand, i) => `${fill(operand, i)}\n${store(operand)}\n`).join('')}  util.return
}`;
