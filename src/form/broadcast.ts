// Element-wise operations of an image and an operand of lower rank, such as a scale `96x1x1` of each channel, which is read at constant
// indices. They stop transposes, and the compiler's pass that moves transposes takes the constants for dimensions, and crashes in a fifth
// of all compiles. Operands of full rank, such as the gates of squeeze-and-excite, stay: with them the form was slower.
import { VALUE } from '../compiler/symbol.ts';
import { bufferOf } from '../system/bytes.ts';
import { isFloat } from '../workload/element-type.ts';
import { affineMap } from '../workload/contraction/text.ts';
import { isTensor, tensorFromText, tensorText, typeName, type Tensor } from '../workload/tensor.ts';
import { isBetweenImages, type ReplaceableKind } from './form.ts';
import { genericText, listOf, type Value, type Writer, type Written } from './text.ts';

export interface Broadcast {
  /** Of the scalar operation, such as `arith.mulf`. */
  readonly name: string;
  /** At least one has a lower rank than the result, and a size of 1 where the result has another. */
  readonly operands: readonly [Tensor, Tensor];
  readonly result: Tensor;
}

const NAMES = ['addf', 'subf', 'mulf', 'divf', 'maximumf', 'minimumf'].map((one) => `arith.${one}`);

/** Such as `arith.mulf 96x1x1xf32,1x96x7x7xf32->1x96x7x7xf32`. */
const broadcastKey = ({ name, operands, result }: Broadcast): string =>
  `${name} ${operands.map(typeName).join()}->${typeName(result)}`;

const STATEMENT = new RegExp(
  String.raw`= linalg\.generic \{indexing_maps = \[([^\]]*, 0\b[^\]]*)\], iterator_types = \[(?:"parallel"(?:, )?)+\]\} ins\(${VALUE}, ${VALUE} : (tensor<[^<>]*>), (tensor<[^<>]*>)\) outs\(${VALUE} : (tensor<[^<>]*>)\) \{
\s*\^bb0\((%\w+): [^\n]*?, (%\w+): [^\n]*
\s*(%\w+) = (arith\.\w+) (%\w+), (%\w+) : [^\n]*
\s*linalg\.yield (%\w+) : `,
  'g',
);

/** The static operations of this kind in a text of the compiler. */
export function readBroadcasts(text: Uint8Array): Broadcast[] {
  const bytes = bufferOf(text);
  if (!bytes.includes(', 0)>')) return [];
  return [...bytes.toString('latin1').matchAll(STATEMENT)].flatMap(
    ([, maps, one, other, type, a, b, computed, name, first, second, yielded]) => {
      const broadcast = {
        name,
        operands: [tensorFromText(one!), tensorFromText(other!)],
        result: tensorFromText(type!),
      };
      const isPlain = first === a && second === b && computed === yielded;
      return isPlain && isBroadcast(broadcast) && mapsOf(broadcast) === maps ? [broadcast] : [];
    },
  );
}

/** Whether a value, for example from a file, is such an operation. Checks every field, because all are written into MLIR. */
export function isBroadcast(value: unknown): value is Broadcast {
  const { name, operands, result } = (value ?? {}) as Partial<Record<keyof Broadcast, unknown>>;
  if (!NAMES.some((one) => one === name) || !Array.isArray(operands) || operands.length !== 2) return false;
  if (!isTensor(result) || !operands.every(isTensor)) return false;
  const all = operands.map((one) => indexOf(one, result));
  return (
    isFloat(result.elementType) &&
    operands.every(({ elementType }) => elementType === result.elementType) &&
    all.every((index) => index !== null) &&
    all.some((index) => index.length < result.shape.length && index.includes(null))
  );
}

/** The dimension of the result that indexes each dimension of an operand; null where its only index is 0. Null if the shapes do not fit. */
function indexOf(operand: Tensor, { shape }: Tensor): (number | null)[] | null {
  const missing = shape.length - operand.shape.length;
  if (missing < 0) return null;
  const fits = operand.shape.every((size, i) => size === 1 || size === shape[i + missing]);
  return fits ? operand.shape.map((size, i) => (size === shape[i + missing] ? i + missing : null)) : null;
}

/** Results of an indexing map. */
const resultsOf = (index: readonly (number | null)[]): string[] =>
  index.map((d) => (d === null ? '0' : `d${d}`));

const mapsOf = ({ operands, result }: Broadcast): string =>
  [...operands, result]
    .map((one) => affineMap(result.shape.length, resultsOf(indexOf(one, result)!)))
    .join(', ');

/** The operation on values. @param indices of each operand: for each of its dimensions, that of the result, or null for the index 0 */
const operationOn = (
  name: string,
  inputs: readonly Value[],
  indices: readonly (readonly (number | null)[])[],
  into: Value,
): string => {
  const loops = into.shape.map((_, d) => `d${d}`).join(', ');
  const maps = indices.map((index) => resultsOf(index).join(', '));
  return genericText({
    ...{ loops, maps: [...maps, loops], inputs, into },
    body: [`%xy = ${name} %x0, %x1 : ${into.elementType}`],
    gives: '%xy',
  });
};

/** Drops the dimensions of operands that are read at constant indices. */
function dropUnits(
  writer: Writer,
  broadcast: Broadcast,
  [a, b, into]: readonly [Value, Value, Value],
): Value {
  const moved = [a, b].map((one) => {
    const index = indexOf(one, into)!;
    const kept = index.filter((d) => d !== null);
    // Dropped dimensions join the kept dimension before them, and the first ones the one after them.
    const groups: number[][] = kept.map(() => []);
    for (const d of index.keys()) {
      const before = index.slice(0, d + 1).filter((one) => one !== null).length;
      groups[Math.max(0, before - 1)]?.push(d);
    }
    return { value: writer.collapse(one, groups), kept };
  });
  const [values, indices] = [moved.map(({ value }) => value), moved.map(({ kept }) => kept)];
  return writer.define(into, operationOn(broadcast.name, values, indices, into));
}

/** The operation as the program has it. */
const writtenBroadcast = (broadcast: Broadcast): Written => {
  const { operands, result } = broadcast;
  const [a, b] = operands.map((one, i) => ({ ...one, name: `%operand${i}` })) as [Value, Value];
  const into = { ...result, name: '%into' };
  return {
    operands: [a, b, into],
    list: listOf([a, b, into]),
    operation: operationOn(
      broadcast.name,
      [a, b],
      operands.map((one) => indexOf(one, result)!),
      into,
    ),
    type: tensorText(result),
  };
};

export const broadcasts: ReplaceableKind<Broadcast> = {
  is: isBroadcast,
  key: broadcastKey,
  read: (text) => readBroadcasts(text),
  writtenOf: writtenBroadcast,
  resultOf: ({ result }) => result,
  formsOf: (broadcast, neighbours) =>
    isBetweenImages(broadcast, neighbours) ? [{ name: 'without-units' }] : [],
  write: (writer, broadcast, operands) => ({
    value: dropUnits(writer, broadcast, operands as [Value, Value, Value]),
  }),
  turn: 2,
};
