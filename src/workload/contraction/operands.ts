// The operands of candidates: filled with pseudo-random values when the module is loaded, and shared by all functions.
import { staticForms, type Contraction, type OperandForm } from './contraction.ts';
import { tensorType } from './text.ts';
import { FACTORS, fillerOf, fillLines, type Filler } from '../fillers.ts';
import { elementsOf } from '../tensor.ts';
import { elementBits, isNarrowFloat } from '../element-type.ts';

export interface Operand {
  readonly name: 'lhs' | 'rhs';
  readonly form: OperandForm;
  /** Name of the global with its buffer. */
  readonly global: string;
  /** The static form with the sizes of the buffer. */
  readonly filled: Contraction;
  /** Whether it is a constant of the program, which the compiler may pack when the module is loaded. */
  readonly constant: boolean;
}

/** The operands of one static form. */
type Operands = Readonly<Record<Operand['name'], Operand>>;

/**
 * The global of an operand. It is a buffer view, as a caller would pass it, so the operation compiles to the same instructions
 * as in a program. Global tensors would share one allocation, and operands with offsets would get other code.
 */
export function declaration({ global, filled, form, constant }: Operand): string {
  return constant
    ? `util.global private @${global} : ${tensorType(filled, form)}`
    : `util.global private mutable @${global} : !hal.buffer_view`;
}

const shapeOf = ({ form, filled }: Operand): number[] =>
  form.dimensions.map((d) => filled.dimensions[d]!.size);

/** The filler of an operand. */
export const operandFiller = (operand: Operand): Filler =>
  fillerOf(operand.form.elementType, elementsOf(shapeOf(operand)));

/** Bits of exact values. Narrow accumulators take fewer bits; over a long k they still round. */
export const exactBits = (workload: Contraction, elementType: string): number =>
  isNarrowFloat(workload.accumulator.elementType) ? 2 : Math.min(4, elementBits(elementType));

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

/** Indices of an operand's dynamic dimensions. */
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

/** The values with the dynamic sizes of the result. They are sizes of the operands. */
export const resultSizes = (workload: Contraction): string[] =>
  dynamicIndices(workload, workload.accumulator).map((i) => {
    const { lhs, rhs, accumulator } = workload;
    const d = accumulator.dimensions[i]!;
    const inLhs = lhs.dimensions.indexOf(d);
    return inLhs >= 0 ? `%lhs_size${inLhs}` : `%rhs_size${rhs.dimensions.indexOf(d)}`;
  });

/** The empty tensor for the result. */
export const emptyResult = (workload: Contraction): string =>
  `tensor.empty(${resultSizes(workload).join(', ')}) : ${tensorType(workload, workload.accumulator)}`;

/** The operands of each static form. All forms share an operand of static size. */
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

/** The initializer that fills each operand in its own allocation, as in a program. */
export const initializer = (operands: readonly Operand[]): string =>
  `util.initializer {
${operands.map((operand, i) => `${fill(operand, i)}\n${store(operand)}\n`).join('')}  util.return
}`;
