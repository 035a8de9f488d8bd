// Text of a module of candidates: operands, which are filled with pseudo-random values when the module is loaded and shared by
// all functions, and a function for each candidate. Here are contractions that are measured alone;
// `dispatch-candidate.ts` has those that are measured in a dispatch.
import { isFloat, isNarrowFloat } from '../element-type.ts';
import type { CandidateFunction } from '../kind.ts';
import { extentsOf, staticForms, type Contraction, type OperandForm } from './contraction.ts';
import {
  dispatchFillers,
  dispatchFunctionText,
  dispatchOperandsText,
  exactBits,
} from './dispatch-candidate.ts';
import { distinctFillers, FACTORS, fillerOf, fillLines, type Filler } from '../fillers.ts';
import { guardedReturn, guardedSignature } from '../guarded.ts';
import { elementsOf } from '../tensor.ts';
import { operationText, tensorType } from './text.ts';

/** The operands of all static forms, each once. */
function distinctOperands(workload: Contraction): Operand[] {
  const combinations = operandsOf(workload);
  // A constant has no buffer and comes last, so the left-hand sides come first.
  const byName = new Map(
    (['lhs', 'rhs'] as const).flatMap((name) =>
      combinations.map((combination) => [combination[name].global, combination[name]] as const),
    ),
  );
  return [...byName.values()];
}

/** For each loop of a candidate's operation, outermost first, the index of its dimension in the workload. */
export const candidateLoops = ({ dimensions, context }: Contraction): readonly number[] =>
  context?.dispatch?.loops ?? [...dimensions.keys()];

/** The compiler phase after which the functions of candidates are valid text; null for input text. */
export const candidatePhase = ({ context }: Contraction): string | null =>
  context === undefined ? null : 'flow';

/** Whether executions rotate through several buffers of an operand, because the program reads its weights from memory. */
export const rotates = ({ context }: Contraction): boolean =>
  context?.dispatch?.arguments.some(({ buffers }) => buffers > 1) ?? false;

/**
 * A wider type with exact results; null if the result type is exact, or if no type is. Sums of small integers are exact in f32. The other
 * work of a dispatch has fixed types.
 */
export const exactTypeOf = ({ accumulator, context }: Contraction): string | null =>
  isNarrowFloat(accumulator.elementType) && context === undefined ? 'f32' : null;

/** The fillers of all operands, each once. */
export function fillersOf(workload: Contraction): Filler[] {
  const dispatch = workload.context?.dispatch;
  return distinctFillers(
    dispatch ? dispatchFillers(dispatch) : distinctOperands(workload).map(operandFiller),
  );
}

/** Text of the operands of all static forms. Calls of fillers in another module fill them when the module is loaded. */
export function operandsText(workload: Contraction): string {
  const dispatch = workload.context?.dispatch;
  if (dispatch !== undefined) return dispatchOperandsText(workload, dispatch);
  const operands = distinctOperands(workload);
  return `${operands.map(declaration).join('\n')}\n${initializer(operands)}`;
}

/** Text of a function that does the work on the operands of one static form. */
export function functionText(workload: Contraction, candidate: CandidateFunction): string {
  const dispatch = workload.context?.dispatch;
  if (dispatch !== undefined) return dispatchFunctionText(dispatch, candidate);
  const { name, form, attribute, resultType, isGuarded } = candidate;
  const own = { ...workload, accumulator: { ...workload.accumulator, elementType: resultType } };
  const { lhs, rhs } = operandsOf(workload)[form]!;
  const type = tensorType(own, own.accumulator);
  const shape = extentsOf(lhs.filled, own.accumulator);
  return `${isGuarded ? guardedSignature(name) : `func.func @${name}() -> ${type}`} {
${load(workload, lhs)}
${load(workload, rhs)}
  %zero = arith.constant ${isFloat(resultType) ? '0.0' : '0'} : ${resultType}
  %empty = tensor.empty(${resultSizes(own).join(', ')}) : ${type}
  %init = linalg.fill ins(%zero : ${resultType}) outs(%empty : ${type}) -> ${type}
${operationText(own, attribute)}
${isGuarded ? guardedReturn({ shape, elementType: resultType }, { type, sizes: resultSizes(own) }) : `  return %result : ${type}`}
}`;
}

interface Operand {
  readonly name: 'lhs' | 'rhs';
  readonly form: OperandForm;
  readonly global: string;
  /** The static form with the sizes of the buffer. */
  readonly filled: Contraction;
  /** Whether it is a constant of the program, which the compiler may pack when the module is loaded. */
  readonly constant: boolean;
}

type Operands = Readonly<Record<Operand['name'], Operand>>;

/**
 * The global of an operand. It is a buffer view, as a caller would pass it, so the operation compiles to the same instructions
 * as in a program. Global tensors would share one allocation, and operands with offsets would get other code.
 */
function declaration({ global, filled, form, constant }: Operand): string {
  return constant
    ? `util.global private @${global} : ${tensorType(filled, form)}`
    : `util.global private mutable @${global} : !hal.buffer_view`;
}

const operandFiller = ({ form, filled }: Operand): Filler =>
  fillerOf(form.elementType, elementsOf(extentsOf(filled, form)));

const fill = ({ name, global, form, filled }: Operand, index: number): string =>
  fillLines({
    name: global,
    shape: extentsOf(filled, form),
    elementType: form.elementType,
    seed: 1 + 64 * index,
    exactBits: exactBits(filled, form.elementType),
    factor: FACTORS[name],
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

function load(workload: Contraction, { name, global, form, constant }: Operand): string {
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
const resultSizes = (workload: Contraction): string[] =>
  dynamicIndices(workload, workload.accumulator).map((i) => {
    const { lhs, rhs, accumulator } = workload;
    const d = accumulator.dimensions[i]!;
    const inLhs = lhs.dimensions.indexOf(d);
    return inLhs >= 0 ? `%lhs_size${inLhs}` : `%rhs_size${rhs.dimensions.indexOf(d)}`;
  });

/** The operands of each static form. All forms share an operand of static size. */
function operandsOf(workload: Contraction): Operands[] {
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
const initializer = (operands: readonly Operand[]): string =>
  `util.initializer {
${operands.map((operand, i) => `${fill(operand, i)}\n${store(operand)}\n`).join('')}  util.return
}`;
