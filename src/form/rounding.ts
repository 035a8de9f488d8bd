// Rounding to the nearest integer, ties to even, as each quantization does for each element. The compiler writes it as thirty operations on bits, which take
// two thirds of the time of such an element-wise dispatch, although processors have one instruction. In its form, it is an addition and a subtraction
// of 2^23, from which on floats of 32 bits are whole numbers. The result is the same for every float.
import type { ReplaceableKind } from './form.ts';
import { onHalves, readQuantizations, ROUNDED } from './quantization.ts';
import { listOf, type Value, type Writer, type Written } from './text.ts';

export interface Rounding {
  readonly name: typeof NAME;
}

const NAME = 'math.roundeven';
const TYPE = 'f32';

const roundingKey = ({ name }: Rounding): string => `${name} ${TYPE}`;

/** The rounding of a text of the compiler; none for a text without, apart from quantizations. */
export const readRounding = (text: Uint8Array): Rounding[] =>
  readQuantizations(text).areAll ? [] : [{ name: NAME }];

/** Whether a value, for example from a file, is this operation. */
export const isRounding = (value: unknown): value is Rounding =>
  (value as Partial<Rounding> | null)?.name === NAME;

/**
 * Writes the rounding of a scalar. Magnitudes are added, because the compiler fuses a product and an addition of it into one operation, which rounds
 * once.
 */
function byAdditions(writer: Writer, [value]: readonly Value[]): Value {
  const define = (text: string, type = TYPE) => writer.scalar(type, text);
  const { name } = value!;
  const whole = define(`arith.constant 8388608.0 : ${TYPE}`);
  const size = define(`math.absf ${name} : ${TYPE}`);
  const raised = define(`arith.addf ${size.name}, ${whole.name} : ${TYPE}`);
  const rounded = define(`arith.subf ${raised.name}, ${whole.name} : ${TYPE}`);
  const isSmall = define(`arith.cmpf olt, ${size.name}, ${whole.name} : ${TYPE}`, 'i1');
  const chosen = define(`arith.select ${isSmall.name}, ${rounded.name}, ${size.name} : ${TYPE}`);
  return define(`math.copysign ${chosen.name}, ${name} : ${TYPE}`);
}

const VALUE: Value = { elementType: TYPE, shape: [], name: '%value', isScalar: true };
const operation = `${NAME} %value : ${TYPE}`;

/** The operation as the program has it. A function of its own rounds a tensor. */
const writtenRounding = (): Written => ({
  ...{ operands: [VALUE], list: listOf([VALUE]), operation, type: TYPE },
  alone: onHalves([`%rounded = ${operation}`], '%rounded', TYPE),
});

export const roundings: ReplaceableKind<Rounding> = {
  is: isRounding,
  key: roundingKey,
  read: (text) => readRounding(text),
  writtenOf: writtenRounding,
  resultOf: () => ROUNDED,
  // Processors of other backends have an operation for rounding.
  formsOf: (_, { isForCpu }) => (isForCpu ? [{ name: 'by-additions' }] : []),
  write: (writer, _, operands) => ({ value: byAdditions(writer, operands) }),
};
