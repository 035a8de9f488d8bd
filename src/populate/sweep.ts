// Sweeps: all combinations of sizes and element types.
import { UserError } from '../system/user-error.ts';
import { parseSizeList, product } from './ranges.ts';
import { isProgramOp, PROGRAM_OPS, programShapesOf, type ProgramShape } from './program-shape.ts';
import { CONSTANTS, isBatched, isOp, OPS, parseElementTypes, type Shape } from './shape.ts';

/** The shapes and programs of a sweep. */
export interface Swept {
  readonly shapes: readonly Shape[];
  readonly programs: readonly ProgramShape[];
}

/** The text of a sweep's options. Each is a list. */
export interface SweepText {
  /** `matmul`, `batch_matmul` and their transposed variants, `softmax`, `attention`. Default: `matmul`. */
  readonly op?: string | undefined;
  readonly m?: string | undefined;
  readonly n?: string | undefined;
  readonly k?: string | undefined;
  /** Default 1. `softmax` and `attention` take several leading dimensions, such as `1x16`; `matmul` takes none. */
  readonly batch?: string | undefined;
  /** Default f32. */
  readonly dtype?: string | undefined;
  /** `yes`, `no` or `both`. Default `both`: weights of a model are constant, activations are not. */
  readonly rhsConstant?: string | undefined;
}

/** A larger sweep would not end. */
const MOST_SHAPES = 1_000_000;

/**
 * All combinations of a sweep. The last option varies fastest.
 * @param name gives the user's name of an option, such as `--m`
 * @throws UserError naming the option
 */
export function readSweep(sweep: SweepText, name: (option: keyof SweepText) => string): Swept {
  const words = (sweep.op ?? 'matmul').split(',').map((word) => word.trim());
  const known: readonly string[] = [...OPS, ...PROGRAM_OPS];
  for (const word of words)
    if (!known.includes(word))
      throw new UserError(`${name('op')}: "${word}" is not one of ${known.join(', ')}`);
  const op = words.filter(isOp).join(',');
  return {
    shapes: op === '' ? [] : shapesOfSweep({ ...sweep, op }, name),
    programs: words.filter(isProgramOp).flatMap((one) => programShapesOf(one, sweep, name)),
  };
}

/**
 * All contractions of a sweep. The last option varies fastest.
 * @param name gives the user's name of an option, such as `--m`
 * @throws UserError naming the option
 */
export function shapesOfSweep(sweep: SweepText, name: (option: keyof SweepText) => string): Shape[] {
  const sizes = (option: 'm' | 'n' | 'k') => {
    const text = sweep[option];
    if (text === undefined)
      throw new UserError(
        `a sweep needs ${(['m', 'n', 'k'] as const).map(name).join(', ')}: ${name(option)} is missing`,
      );
    return parseSizeList(text, name(option));
  };
  const ops = (sweep.op ?? 'matmul').split(',').map((word) => {
    const op = word.trim();
    if (!isOp(op)) throw new UserError(`${name('op')}: "${op}" is not one of ${OPS.join(', ')}`);
    return op;
  });
  const types = (sweep.dtype ?? 'f32').split(',').map((text) => {
    try {
      return parseElementTypes(text);
    } catch (error) {
      throw new UserError(`${name('dtype')}: ${(error as Error).message}`);
    }
  });
  const constant = sweep.rhsConstant ?? 'both';
  const constants = CONSTANTS.get(constant);
  if (constants === undefined)
    throw new UserError(`${name('rhsConstant')}: "${constant}" is not one of yes, no, both`);
  const batches = parseSizeList(sweep.batch ?? '1', name('batch'));
  const [m, n, k] = (['m', 'n', 'k'] as const).map(sizes) as [number[], number[], number[]];
  for (const op of ops)
    if (!isBatched(op) && batches.some((batch) => batch > 1))
      throw new UserError(`${name('batch')}: ${op} has no batch: use batch_${op}`);
  const lists = [ops, types, batches, m, n, k, constants] as const;
  const total = lists.reduce((count, { length }) => count * length, 1);
  if (total > MOST_SHAPES) throw new UserError(`the sweep has ${total} shapes: the limit is ${MOST_SHAPES}`);
  return product(...lists).map(([op, type, batch, m, n, k, rhsConstant]): Shape => ({
    ...{ op, batch, m, n, k, ...type, rhsConstant, count: 1 },
  }));
}
