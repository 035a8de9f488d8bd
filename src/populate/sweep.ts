// Sweeps: all combinations of sizes and element types.
import { UserError } from '../system/user-error.ts';
import { parseSizeList, product, sizesOf, type SweepText } from './ranges.ts';
import { isProgramOp, PROGRAM_OPS, programShapesOf, type ProgramShape } from './program-shape.ts';
import { CONSTANTS, isBatched, isOp, OPS, parseElementTypes, type Op, type Shape } from './shape.ts';

/** The shapes and programs of a sweep. */
export interface Swept {
  readonly shapes: readonly Shape[];
  readonly programs: readonly ProgramShape[];
}

/** A larger sweep would not end. */
const MOST_SHAPES = 1_000_000;

/**
 * All combinations of a sweep. The last option varies fastest.
 * @throws UserError naming the option
 */
export function readSweep(sweep: SweepText): Swept {
  const ops = opsOf(sweep, [...OPS, ...PROGRAM_OPS]);
  return {
    shapes: contractions(ops.filter(isOp), sweep),
    programs: ops.filter(isProgramOp).flatMap((op) => programShapesOf(op, sweep)),
  };
}

/**
 * All combinations of a sweep that has contractions only.
 * @throws UserError naming the option
 */
export const shapesOfSweep = (sweep: SweepText): Shape[] => contractions(opsOf(sweep, OPS), sweep);

function opsOf<T extends string>({ op = 'matmul' }: SweepText, known: readonly T[]): T[] {
  return op.split(',').map((text) => {
    const word = text.trim();
    const found = known.find((one) => one === word);
    if (found === undefined) throw new UserError(`--op: "${word}" is not one of ${known.join(', ')}`);
    return found;
  });
}

function contractions(ops: readonly Op[], sweep: SweepText): Shape[] {
  if (ops.length === 0) return [];
  const { batch = '1', dtype = 'f32', rhsConstant: constant = 'both' } = sweep;
  const types = dtype.split(',').map((text) => {
    try {
      return parseElementTypes(text);
    } catch (error) {
      throw new UserError(`--dtype: ${(error as Error).message}`);
    }
  });
  const constants = CONSTANTS.get(constant);
  if (constants === undefined)
    throw new UserError(`--rhs-constant: "${constant}" is not one of yes, no, both`);
  const batches = parseSizeList(batch, '--batch');
  const sizes = (option: 'm' | 'n' | 'k') => sizesOf(sweep, option, ['m', 'n', 'k'], 'a sweep');
  for (const op of ops)
    if (!isBatched(op) && batches.some((size) => size > 1))
      throw new UserError(`--batch: ${op} has no batch: use batch_${op}`);
  const lists = [ops, types, batches, sizes('m'), sizes('n'), sizes('k'), constants] as const;
  const total = lists.reduce((count, { length }) => count * length, 1);
  if (total > MOST_SHAPES) throw new UserError(`the sweep has ${total} shapes: the limit is ${MOST_SHAPES}`);
  return product(...lists).map(([op, type, batch, m, n, k, rhsConstant]): Shape => ({
    ...{ op, batch, m, n, k, ...type, rhsConstant, count: 1 },
  }));
}
