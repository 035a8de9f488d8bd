// Products with constant weights of 4 or 8 bits in blocks: each block of a column has a factor, and may have an offset or a zero point, as in the
// quantized layers of language models. By default, the compiler makes floats of all weights in each call, in a dispatch of its own. In their form,
// products read words of weights: see `words.ts`.
import { VALUE } from '../compiler/symbol.ts';
import { withoutLocations } from '../compiler/locations.ts';
import type { Operation } from 'mlir-parser-ts';
import { bufferOf } from '../system/bytes.ts';
import { elementBits, isFloat, isInteger, isNarrowFloat } from '../workload/element-type.ts';
import {
  elementsOf,
  isTensor,
  staticTensor,
  tensorFromText,
  tensorText,
  typeName,
  type Tensor,
} from '../workload/tensor.ts';
import { areSteps, bodyIn, bodyText, isConversion, isSumOfProducts, type Body, type Step } from './body.ts';
import type { ReplaceableKind } from './form.ts';
import type { Packing } from './packing.ts';
import { widened } from './parts.ts';
import { LEAST_WEIGHTS, TRANSPOSED } from './product.ts';
import { hasStrips } from './strips.ts';
import {
  batchOf,
  batchText,
  definitionIn,
  genericText,
  listOf,
  Writer,
  type Value,
  type Written,
} from './text.ts';
import { isConstant, isHalfByte, type Definitions } from './constants.ts';
import { areInWords, productOfWords } from './words.ts';

/** An operation on each weight. */
interface Stage {
  /** Weights (n, groups, block), and values of blocks (n, groups, 1). Null for the result of the stage before. */
  readonly inputs: readonly (Tensor | null)[];
  readonly steps: readonly Step[];
}

export interface BlockProduct {
  readonly name: typeof NAME;
  /** (m, groups, block) or (b, m, groups, block); of a named operation (m, k) or (b, m, k). All of a batch have the same weights. */
  readonly lhs: Tensor;
  /** How the program makes floats of the weights. Its first stage has the weights. */
  readonly stages: readonly Stage[];
  /** Bits of the weights: integers of 8 bits that the program cuts out of bytes may have 4. */
  readonly bits: 4 | 8;
  /** How the product adds up; null for a named operation, whose weights are (k, n). */
  readonly sum: readonly Step[] | null;
  /** (m, n) or (b, m, n), f32. */
  readonly result: Tensor;
}

const NAME = 'product of blocks';

const WIDE = 'f32';

/** Types of weights. */
const STORED = ['i4', 'i8'];

/** Types of integers of blocks. The compiler does not evaluate narrower ones. */
const OF_BLOCKS = ['i8', 'i32'];

/** Such as `product of blocks 1x1x24x32xf32,2048x24x32xi4,2048x24x1xf32->1x1x2048xf32 by uitofp 0 f32; ...`. */
function blockProductKey({ name, lhs, stages, bits, sum, result }: BlockProduct): string {
  const types = stages.flatMap(({ inputs }) => inputs.map((one) => (one === null ? '' : typeName(one))));
  const texts = [...stages.map(({ steps }) => steps), sum ?? []].map((all) =>
    all.map((one) => `${one.name.slice('arith.'.length)} ${one.of.join(' ')} ${one.type}`).join(', '),
  );
  const own = [typeName(lhs), ...types].join();
  return `${name} ${own} of ${bits} bits->${typeName(result)} by ${texts.join('; ')}`;
}

/** A value of each block as a float. */
interface OfBlock {
  /** Its place among the inputs of all stages. */
  readonly input: number;
  readonly isUnsigned: boolean;
}

/** A weight is `(integer - zero) * factor + offset`. */
interface Dequantization {
  readonly isUnsigned: boolean;
  readonly factor: OfBlock;
  readonly zero: OfBlock | null;
  readonly offset: OfBlock | null;
}

/** A value of a step: of a weight, or of a block. */
type Known =
  | (Partial<Dequantization> & { readonly isWeight: true; readonly isFloat?: true })
  | (OfBlock & { readonly isWeight: false; readonly isFloat?: true });

/** The inputs of all stages, without the results of stages. */
const inputsOf = (stages: readonly Stage[]): Tensor[] =>
  stages.flatMap(({ inputs }) => inputs.filter((one) => one !== null));

/** What stages compute; null if it is something else. */
function dequantizationOf(stages: readonly Stage[]): Dequantization | null {
  let last: Known | null = null;
  let count = 0;
  for (const { inputs, steps } of stages) {
    const known: (Known | null)[] = inputs.map((one) => {
      if (one === null) return last;
      const input = count++;
      return isWeights(one) ? { isWeight: true } : { isWeight: false, input, isUnsigned: false };
    });
    // The result so far is no operand.
    known.push(null);
    for (const { name, of } of steps)
      known.push(
        after(
          name,
          of.map((one) => known[one] ?? null),
        ),
      );
    last = known.at(-1)!;
  }
  if (!last?.isWeight || last.factor === undefined || last.isUnsigned === undefined) return null;
  const { isUnsigned, factor, zero = null, offset = null } = last;
  return { isUnsigned, factor, zero, offset };
}

/** The value after a step; null if it is none of these. */
function after(name: string, [first, second]: readonly (Known | null)[]): Known | null {
  if (!first || second === null) return null;
  if (second !== undefined) return combined(name, first, second);
  if (!isConversion(name)) return null;
  // Integers become floats in one step: see `body.ts`.
  return first.isFloat ? first : { ...first, isUnsigned: name === 'arith.uitofp', isFloat: true };
}

function combined(name: string, first: Known, second: Known): Known | null {
  const [weight, other] = first.isWeight ? [first, second] : [second, first];
  if (!weight.isWeight || other.isWeight || weight.offset !== undefined) return null;
  const { isUnsigned, input } = other;
  const own = { input, isUnsigned };
  if (name === 'arith.mulf' && weight.factor === undefined) return { ...weight, factor: own };
  if (name === 'arith.addf' && weight.factor !== undefined) return { ...weight, offset: own };
  const isZero = name === 'arith.subf' && weight === first && weight.factor === undefined;
  return isZero && weight.zero === undefined ? { ...weight, zero: own } : null;
}

const isWeights = ({ shape, elementType }: Tensor): boolean =>
  shape.length === 3 && shape[2]! > 1 && STORED.includes(elementType);

/** Results of the maps of both factors and of the result. */
const MAPS = ['[0,2,3] [1,2,3] [0,1]', '[0,1,3,4] [2,3,4] [0,1,2]'];

const STAGE = new RegExp(
  String.raw`^linalg\.generic \{indexing_maps = \[(?<maps>(?:affine_map<\(d0, d1, d2\) -> \(d0, d1, (?:d2|0)\)>(?:, )?)+)\], iterator_types = \["parallel", "parallel", "parallel"\]\} ins\((?<values>${VALUE}(?:, ${VALUE})*) : (?<types>tensor<[^)]*>)\) outs\(`,
);

/** @returns null for other operations */
function readBlockProduct(operation: Operation, text: Uint8Array): BlockProduct | null {
  const { name, operands, indexingMaps, start, end } = operation;
  const isBatch = name === 'linalg.batch_matmul';
  const isGrouped = name === 'linalg.generic';
  if (operands.length !== 3 || !(isGrouped || isBatch || name === 'linalg.matmul')) return null;
  const [lhs, , result] = operands.map(({ type }) => staticTensor(type));
  const maps = indexingMaps.map(({ results }) => JSON.stringify(results)).join(' ');
  if (!lhs || !result || (isGrouped && !MAPS.includes(maps))) return null;
  const sum = isGrouped ? bodyIn(bufferOf(text).toString('latin1', start, end)) : null;
  const definitionOf: Definitions = (value) => withoutLocations(definitionIn(text, value, start) ?? '');
  const before = (pattern: RegExp, value: string | undefined) =>
    value === undefined ? undefined : pattern.exec(definitionOf(value))?.[1];
  const matrix = isBatch ? before(BATCHED, operands[1]!.value) : operands[1]!.value;
  const floats = isGrouped ? matrix : before(COLLAPSED, before(TRANSPOSED, matrix));
  const found = floats === undefined ? null : stagesBefore(floats, definitionOf);
  if (found === null || (isGrouped && sum === null)) return null;
  const product = {
    ...{ name: NAME, lhs, result, sum: sum?.steps ?? null, stages: found.stages },
    bits: found.type.elementType === 'i4' || isHalfByte(found.weights, definitionOf) ? 4 : 8,
  };
  const isRead = isBlockProduct(product) && sum?.types.join() === ofSum(product)?.join();
  return isRead ? product : null;
}

const BATCHED = batchOf(WIDE);
const COLLAPSED = new RegExp(String.raw`^tensor\.collapse_shape (${VALUE}) \[\[0\], \[1, 2\]\] `);

/** Most stages of a product. */
const MOST_STAGES = 4;

/** The stages that make floats of constant weights, and the weights; null for other values. */
function stagesBefore(floats: string, definitionOf: Definitions) {
  const stages: Stage[] = [];
  for (let value = floats; stages.length < MOST_STAGES;) {
    const definition = definitionOf(value);
    const found = STAGE.exec(definition)?.groups as Record<'maps' | 'values' | 'types', string> | undefined;
    const body = found === undefined ? null : bodyIn(definition);
    if (found === undefined || body === null) return null;
    const [values, maps] = [found.values.split(', '), found.maps.split('>, ')];
    const own = found.types.split(', ').map(tensorFromText);
    const isWhole = values.map((_, i) => maps[i]?.includes('(d0, d1, d2)', maps[i].indexOf('->')) === true);
    const at = isWhole.indexOf(true);
    const others = values.filter((_, i) => i !== at);
    if (at < 0 || own.includes(null) || !others.every((one) => isConstant(one, definitionOf))) return null;
    const [tensors, whole] = [own as Tensor[], own[at] as Tensor];
    const isLast = isWeights(whole) && isConstant(values[at]!, definitionOf);
    const inputs = tensors.map((one, i) => (i === at && !isLast ? null : one));
    const stage = { inputs, steps: body.steps };
    stages.unshift(stage);
    const isAsWritten =
      maps.length === values.length + 1 &&
      mapsOf(stage).every((map, i) => maps[i]!.endsWith(`(${map})`)) &&
      typesOf(stage, body.types.at(-1)!).join() === body.types.join();
    if (!isAsWritten) return null;
    if (isLast) return { stages, weights: values[at]!, type: whole };
    value = values[at]!;
  }
  return null;
}

/** Results of the maps of a stage. */
const mapsOf = ({ inputs }: Stage): string[] =>
  inputs.map((one) => (one === null || isWeights(one) ? 'd0, d1, d2' : 'd0, d1, 0'));

/** Element types of a stage's body. @param float that of its result, and of the result of the stage before */
const typesOf = ({ inputs }: Stage, float: string): string[] => [
  ...inputs.map((one) => one?.elementType ?? float),
  float,
];

/** Element types of the product's body; undefined for a named operation. */
const ofSum = ({ lhs, sum, result }: Pick<BlockProduct, 'lhs' | 'sum' | 'result'>): string[] | undefined =>
  sum === null ? undefined : [lhs.elementType, lhs.elementType, result.elementType];

/** Whether a value, for example from a file, is such an operation. Checks every field, because all are written into MLIR. */
function isBlockProduct(value: unknown): value is BlockProduct {
  const { name, lhs, stages, bits, sum, result } = (value ?? {}) as Partial<
    Record<keyof BlockProduct, unknown>
  >;
  if (name !== NAME || !isTensor(lhs) || !isTensor(result) || (bits !== 4 && bits !== 8)) return false;
  if (!Array.isArray(stages) || !stages.every(isStage)) return false;
  if (sum !== null && !areSteps(sum, 3)) return false;
  const all = inputsOf(stages);
  const how = dequantizationOf(stages);
  const weights = all.find(isWeights);
  if (how === null || weights === undefined) return false;
  const [n, groups, block] = weights.shape as [number, number, number];
  const isGrouped = sum !== null;
  const rows = lhs.shape.slice(0, isGrouped ? -2 : -1);
  const float = lhs.elementType;
  const has = ({ shape }: Tensor, sizes: readonly unknown[]) => shape.join() === sizes.join();
  const types = ofSum({ lhs, sum, result });
  return (
    stages.every(
      ({ inputs, steps }: Stage, i) =>
        inputs.filter((one) => one === null || isWeights(one)).length === 1 &&
        inputs.includes(null) === i > 0 &&
        steps.at(-1)!.type === float &&
        areTyped({ types: typesOf({ inputs, steps }, float), steps }),
    ) &&
    areInWords(weights, bits) &&
    bits <= elementBits(weights.elementType) &&
    (bits === elementBits(weights.elementType) || how.isUnsigned) &&
    all.every((one) => one === weights || has(one, [n, groups, 1])) &&
    all.every((one) => one === weights || isFloat(one.elementType) || OF_BLOCKS.includes(one.elementType)) &&
    (isGrouped ? float === WIDE || isNarrowFloat(float) : float === WIDE) &&
    result.elementType === WIDE &&
    (types === undefined || (isSumOfProducts({ types, steps: sum! }) && areTyped({ types, steps: sum! }))) &&
    elementsOf(weights.shape) >= LEAST_WEIGHTS &&
    hasStrips(n, groups * block) &&
    (rows.length === 1 || rows.length === 2) &&
    has(lhs, [...rows, ...(isGrouped ? [groups, block] : [groups * block])]) &&
    has(result, [...rows, n])
  );
}

function isStage(value: unknown): value is Stage {
  const { inputs, steps } = (value ?? {}) as Partial<Record<keyof Stage, unknown>>;
  return (
    Array.isArray(inputs) &&
    inputs.every((one) => one === null || isTensor(one)) &&
    areSteps(steps, inputs.length + 1)
  );
}

/** Whether steps have the types that their operations take. */
function areTyped({ types, steps }: Body): boolean {
  const all = [...types, ...steps.map(({ type }) => type)];
  return steps.every(({ name, of, type }) => {
    const from = of.map((one) => all[one]!);
    if (!isConversion(name)) return isFloat(type) && from.every((one) => one === type);
    const [isOfFloats, isToFloats] = [name === 'arith.extf', /f$|tofp$/.test(name)];
    const isOf = isOfFloats ? isFloat(from[0]!) : isInteger(from[0]!);
    const isTo = isToFloats ? isFloat(type) : isInteger(type);
    return isOf && isTo && (isOfFloats !== isToFloats || elementBits(type) > elementBits(from[0]!));
  });
}

/** Writes the product in its form. Returns its result. */
function inWords(
  writer: Writer,
  { stages, bits, result }: BlockProduct,
  operands: readonly Value[],
  packing: Packing,
): Value {
  const { isUnsigned, factor, zero, offset } = dequantizationOf(stages)!;
  const [rows, into] = [operands[0]!, operands.at(-1)!];
  const stored = operands.slice(1, -1).find(isWeights)!;
  const [, groups, block] = stored.shape as [number, number, number];
  const valueOf = (one: OfBlock | null) => {
    if (one === null) return null;
    const own = writer.transpose(writer.collapse(operands[1 + one.input]!, [[0], [1, 2]]), [1, 0]);
    return asFloats(writer, own, one.isUnsigned);
  };
  const m = elementsOf(rows.shape) / (groups * block);
  const product = productOfWords(
    writer,
    {
      rows: widened(writer, writer.reshape(rows, [m, groups, block]), WIDE),
      ...{ weights: stored, bits, isUnsigned },
      ...{ zeros: valueOf(zero), factors: valueOf(factor)!, offsets: valueOf(offset) },
    },
    result.shape,
    packing,
  );
  return writer.add(product, into);
}

/** Floats stay. Integers of 8 bits are exact as f16, which is read in less time. */
function asFloats(writer: Writer, value: Value, isUnsigned: boolean): Value {
  if (isFloat(value.elementType)) return value;
  const to = { ...value, elementType: elementBits(value.elementType) > 8 ? WIDE : 'f16' };
  const how = isUnsigned ? 'uitofp' : 'sitofp';
  return writer.define(to, `arith.${how} ${value.name} : ${tensorText(value)} to ${tensorText(to)}`);
}

/** The operation as the program has it. */
function writtenBlockProduct(product: BlockProduct): Written {
  const { lhs, stages, sum, result } = product;
  const writer = new Writer();
  const inputs = inputsOf(stages).map((one, i) => ({ ...one, name: `%input${i}` }));
  const [rows, into] = [
    { ...lhs, name: '%lhs' },
    { ...result, name: '%into' },
  ];
  const operands = [rows, ...inputs, into];
  const left = [...inputs];
  const made = { ...inputs.find(isWeights)!, elementType: lhs.elementType };
  let floats: Value | null = null;
  for (const stage of stages) {
    const values: Value[] = stage.inputs.map((one) => (one === null ? floats! : left.shift()!));
    floats = writer.generic({
      ...{ loops: 'd0, d1, d2', maps: [...mapsOf(stage), 'd0, d1, d2'] },
      ...{ inputs: values, into: writer.empty(made) },
      ...bodyText(typesOf(stage, made.elementType), stage.steps),
    });
  }
  const factor = sum === null ? matrixOf(writer, floats!, lhs) : floats!;
  const type = tensorText(result);
  const isBatch = result.shape.length === 3;
  const operation =
    sum === null
      ? `linalg.${isBatch ? 'batch_' : ''}matmul ins(%lhs, ${factor.name} : ${tensorText(lhs)}, ${tensorText(factor)}) outs(%into : ${type}) -> ${type}`
      : genericText({
          loops: isBatch ? 'd0, d1, d2, d3, d4' : 'd0, d1, d2, d3',
          maps: isBatch
            ? ['d0, d1, d3, d4', 'd2, d3, d4', 'd0, d1, d2']
            : ['d0, d2, d3', 'd1, d2, d3', 'd0, d1'],
          inputs: [rows, factor],
          into,
          ...bodyText(ofSum(product)!, sum),
        });
  const written = { operands, list: listOf(operands), before: writer.text, operation, type };
  return inputs.some(({ elementType }) => elementType === 'i4')
    ? { ...written, alone: ofBytes(written) }
    : written;
}

/** Floats (n, groups, block) as the second factor of a named product. */
function matrixOf(writer: Writer, floats: Value, lhs: Tensor): Value {
  const matrix = writer.transpose(writer.collapse(floats, [[0], [1, 2]]), [1, 0]);
  if (lhs.shape.length === 2) return matrix;
  const batch = writer.empty({ ...matrix, shape: [lhs.shape[0]!, ...matrix.shape] });
  return writer.define(batch, batchText(matrix, batch));
}

/** A function whose weights of 4 bits arrive as bytes: files of values have no narrower ones. */
function ofBytes({
  operands,
  before,
  operation,
}: Pick<Written, 'operands' | 'operation'> & { before: string }) {
  const stored = operands.find(({ elementType }) => elementType === 'i4')!;
  const bytes = { name: '%bytes', elementType: 'i8', shape: stored.shape.with(-1, stored.shape.at(-1)! / 2) };
  const cast = `${stored.name} = flow.tensor.bitcast ${bytes.name} : ${tensorText(bytes)} -> ${tensorText(stored)}`;
  return {
    operands: operands.map((one) => (one === stored ? bytes : one)),
    body: `${cast}\n${before}\n  %0 = ${operation}`,
  };
}

export const blockProducts: ReplaceableKind<BlockProduct> = {
  is: isBlockProduct,
  key: blockProductKey,
  read: (text, operations) => operations.flatMap((one) => readBlockProduct(one, text) ?? []),
  writtenOf: writtenBlockProduct,
  resultOf: ({ result }) => result,
  formsOf: () => [{ name: 'in-words', tiles: { of: 'stored', areNeeded: true } }],
  write(writer, product, operands, { name, packing }) {
    if (packing === null) throw new RangeError(`${blockProductKey(product)} has no form ${name}`);
    return { value: inWords(writer, product, operands, packing) };
  },
};
