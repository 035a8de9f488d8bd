// Floats that a program makes of weights that are stored in fewer bits, in each call, by one element-wise operation or several.
import { VALUE } from '../compiler/symbol.ts';
import { elementBits, isFloat, isSimpleType } from '../workload/element-type.ts';
import { isTensor, tensorFromText, tensorText, typeName, type Tensor } from '../workload/tensor.ts';
import { areSteps, bodyIn, bodyText, floatConversion, isWidening, type Step } from './body.ts';
import { isConstant, type Definitions } from './constants.ts';
import { HALF } from './parts.ts';
import { typeText, type Value, type Writer } from './text.ts';

/** An operation on each weight. */
export interface Stage {
  /** The weights, and values of columns or blocks. Null for the result of the stage before. A scalar has no dimensions. */
  readonly inputs: readonly (Tensor | null)[];
  /** Results of the indexing map of each input. */
  readonly maps: readonly string[];
  /** Its body. A `dequantize_affine` of weights, factors and zero points has the sign of the integers instead. */
  readonly steps: readonly Step[] | 'signed' | 'unsigned';
}

/** A value of a column or of a block. */
export interface Part {
  /** Its place among the inputs of all stages. */
  readonly input: number;
  /** Of an integer. */
  readonly isUnsigned: boolean;
}

/** A weight is `(stored - zero) * factor + offset`. */
export interface Dequantization {
  readonly isUnsigned: boolean;
  readonly factor: Part | null;
  readonly zero: Part | null;
  readonly offset: Part | null;
}

const STORED = ['i4', 'i8', 'f16', 'bf16'];

/** Types of integers of columns and blocks. The compiler does not evaluate narrower ones. */
const OF_PARTS = ['i8', 'i32', 'i64'];

/** Most stages. */
const MOST_STAGES = 4;

const loopsOf = (rank: number): string => Array.from({ length: rank }, (_, d) => `d${d}`).join(', ');

/** The inputs of all stages, without the results of stages. */
export const inputsOf = (stages: readonly Stage[]): Tensor[] =>
  stages.flatMap(({ inputs }) => inputs.filter((one) => one !== null));

/** Which of these inputs is the weights. */
export const weightsAt = (stages: readonly Stage[]): number => {
  const [first] = stages as [Stage];
  return first.maps.indexOf(loopsOf(rankOf(first)));
};

/** The indexing map of the weights has the most dimensions. */
const rankOf = ({ maps }: Stage): number => Math.max(...maps.map((one) => one.split(', ').length));

/** Such as `768x2048xi8,2048xf32 by sitofp 0 f32, mulf 3 1 f32`. */
export const stagesKey = (stages: readonly Stage[]): string =>
  stages
    .map(({ inputs, maps, steps }) => {
      const types = inputs.map((one, i) => `${one === null ? '' : typeName(one)}(${maps[i]!})`);
      const how = typeof steps === 'string' ? `dequantize ${steps}` : stepsKey(steps);
      return `${types.join()} by ${how}`;
    })
    .join('; ');

export const stepsKey = (steps: readonly Step[]): string =>
  steps.map((one) => `${one.name.slice('arith.'.length)} ${one.of.join(' ')} ${one.type}`).join(', ');

/** A value of a step: of a weight, or of a column or block. */
type Known =
  | (Partial<Dequantization> & { readonly isWeight: true; readonly isFloat?: true })
  | (Part & { readonly isWeight: false; readonly isFloat?: true });

/** The computation of stages; null for another one. */
export function dequantizationOf(stages: readonly Stage[]): Dequantization | null {
  const weights = weightsAt(stages);
  let last: Known | null = null;
  let count = 0;
  for (const { inputs, steps } of stages) {
    const known: (Known | null)[] = inputs.map((one) => {
      if (one === null) return last;
      const input = count++;
      return input === weights ? { isWeight: true } : { isWeight: false, input, isUnsigned: false };
    });
    if (typeof steps === 'string') return affine(inputs, steps === 'unsigned');
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
  if (!last?.isWeight || last.isUnsigned === undefined) return null;
  const { isUnsigned, factor = null, zero = null, offset = null } = last;
  return { isUnsigned, factor, zero, offset };
}

/** The weights, factors and zero points of a `dequantize_affine`. Zero points of another type than the weights are signed. */
const affine = (inputs: readonly (Tensor | null)[], isUnsigned: boolean): Dequantization => ({
  isUnsigned,
  factor: { input: 1, isUnsigned: false },
  zero: inputs.length > 2 ? { input: 2, isUnsigned: isUnsigned && isByte(inputs[2]!) } : null,
  offset: null,
});

const isByte = (one: Tensor | null): boolean => one?.elementType === 'i8';

/** The value after a step; null if it is none of these. */
function after(name: string, [first, second]: readonly (Known | null)[]): Known | null {
  if (!first || second === null) return null;
  if (second !== undefined) return combined(name, first, second);
  if (!isWidening(name)) return null;
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

const map = String.raw`affine_map<\([^()]*\) -> \([^()]*\)>`;
const maps = String.raw`\{?indexing_maps = \[(?<maps>${map}(?:, ${map})*)\]`;
const values = String.raw`(?<values>${VALUE}(?:, ${VALUE})*) : (?<types>[^)]*)`;

const GENERIC = new RegExp(
  String.raw`^linalg\.generic ${maps}, iterator_types = \[(?:"parallel"(?:, )?)+\]\} ins\(${values}\) outs\(`,
);

const DEQUANTIZE = new RegExp(
  String.raw`^iree_linalg_ext\.dequantize_affine <${maps}, quant_min = (?<least>-?\d+), quant_max = (?<most>\d+)(?<unsigned>, input_unsigned)?(?<unsignedZero>, zp_unsigned)?> ins\(${values}\) outs\(`,
);

type Groups = Readonly<Record<string, string | undefined>>;

/** The stages that make floats of constant weights, and the weights; null for other values. */
export function stagesBefore(floats: string, definitionOf: Definitions) {
  const stages: Stage[] = [];
  for (let value = floats; stages.length < MOST_STAGES;) {
    const definition = definitionOf(value);
    const groups: Groups | undefined = (GENERIC.exec(definition) ?? DEQUANTIZE.exec(definition))?.groups;
    const stage = groups === undefined ? null : stageOf(groups, definition);
    if (groups === undefined || stage === null) return null;
    const names = groups['values']!.split(', ');
    const at = stage.maps.indexOf(loopsOf(rankOf(stage)));
    if (!names.every((one, i) => i === at || isConstant(one, definitionOf))) return null;
    const isLast = STORED.includes(stage.inputs[at]!.elementType) && isConstant(names[at]!, definitionOf);
    if (isLast) return { stages: [stage, ...stages], weights: names[at]!, type: stage.inputs[at]! };
    stages.unshift({ ...stage, inputs: stage.inputs.map((one, i) => (i === at ? null : one)) });
    value = names[at]!;
  }
  return null;
}

/** A stage with all of its inputs; null for another operation. */
function stageOf(
  groups: Groups,
  definition: string,
): (Stage & { readonly inputs: readonly Tensor[] }) | null {
  const results = [...groups['maps']!.matchAll(/-> \(([^()]*)\)/g)].map(([, one]) => one!);
  const inputs = groups['types']!.split(', ').map(typeFrom);
  const isWhole = results.at(-1) === loopsOf(results.at(-1)!.split(', ').length);
  if (!isWhole || results.length !== inputs.length + 1 || inputs.some((one) => one === null)) return null;
  const stage = { inputs: inputs as Tensor[], maps: results.slice(0, -1) };
  if (groups['least'] === undefined) {
    const body = bodyIn(definition);
    const isTyped = body?.types.slice(0, -1).join() === stage.inputs.map((one) => one.elementType).join();
    return body !== null && isTyped ? { ...stage, steps: body.steps } : null;
  }
  const isUnsigned = groups['unsigned'] !== undefined;
  const isUsual =
    rangeOf(isUnsigned).join() === `${groups['least']},${groups['most']!}` &&
    (groups['unsignedZero'] !== undefined) === (isUnsigned && isByte(stage.inputs[2] ?? null));
  return isUsual ? ({ ...stage, steps: isUnsigned ? 'unsigned' : 'signed' } as const) : null;
}

const typeFrom = (text: string): Tensor | null =>
  isSimpleType(text) ? { shape: [], elementType: text } : tensorFromText(text);

/** Values of integers of 8 bits. */
const rangeOf = (isUnsigned: boolean) => (isUnsigned ? [0, 2 * HALF - 1] : [-HALF, HALF - 1]);

/**
 * Whether a value, for example from a file, is such stages. Checks every field, because all are written into MLIR.
 * @param float the type of the floats
 * @param columns the dimension of the weights along the columns of the product. Weights of three dimensions have blocks along the last one
 */
export function areStages(value: unknown, float: string, columns: number): value is readonly Stage[] {
  if (!Array.isArray(value) || value.length === 0 || !value.every(isStage)) return false;
  const stages = value as readonly Stage[];
  const weights = inputsOf(stages)[weightsAt(stages)];
  if (weights === undefined || !STORED.includes(weights.elementType)) return false;
  const [{ maps: own }] = stages as [Stage];
  const whole = loopsOf(weights.shape.length);
  const isPart = ({ shape, elementType }: Tensor, to: string) =>
    (isFloat(elementType) || OF_PARTS.includes(elementType)) &&
    partsOf(weights.shape, columns).some((one) => one.map === to && one.shape.join() === shape.join());
  return (
    own.filter((one) => one === whole).length === 1 &&
    stages.every(
      ({ inputs, maps: to, steps }, i) =>
        inputs.filter((one) => one === null).length === (i === 0 ? 0 : 1) &&
        inputs.every((one, k) => (one === null || one === weights ? to[k] === whole : isPart(one, to[k]!))) &&
        (typeof steps === 'string'
          ? stages.length === 1 && float === 'f32' && isDequantize(inputs as readonly Tensor[], to)
          : areSteps(steps, typesOf(inputs, float)) && steps.at(-1)!.type === float),
    ) &&
    dequantizationOf(stages) !== null
  );
}

/** Shapes and maps of values of columns, or of blocks. */
function partsOf(shape: readonly number[], columns: number): { shape: number[]; map: string }[] {
  const [n, groups] = [shape[columns]!, shape[1]!];
  if (shape.length === 3) return [{ shape: [n, groups, 1], map: 'd0, d1, 0' }];
  const two = columns === 0 ? { shape: [n, 1], map: 'd0, 0' } : { shape: [1, n], map: '0, d1' };
  return [{ shape: [], map: '' }, { shape: [n], map: `d${columns}` }, two];
}

const isDequantize = ([weights, factors, zeros]: readonly Tensor[], to: readonly string[]): boolean =>
  weights?.elementType === 'i8' &&
  weights.shape.length === 2 &&
  factors?.elementType === 'f32' &&
  factors.shape.length < 2 &&
  (zeros === undefined ? to.length === 2 : to.length === 3 && to[1] === to[2] && !isFloat(zeros.elementType));

function isStage(value: unknown): value is Stage {
  const { inputs, maps: to, steps } = (value ?? {}) as Partial<Record<keyof Stage, unknown>>;
  return (
    Array.isArray(inputs) &&
    inputs.every((one) => one === null || isTensor(one)) &&
    Array.isArray(to) &&
    to.length === inputs.length &&
    to.every((one) => typeof one === 'string') &&
    (steps === 'signed' || steps === 'unsigned' || Array.isArray(steps))
  );
}

/** Element types of a stage's body. */
const typesOf = (inputs: readonly (Tensor | null)[], float: string): string[] => [
  ...inputs.map((one) => one?.elementType ?? float),
  float,
];

/** Writes the stages as the program has them. @param inputs of all stages. Returns the floats. */
export function writeStages(
  writer: Writer,
  stages: readonly Stage[],
  inputs: readonly Value[],
  float: string,
): Value {
  const left = [...inputs];
  const type = { ...inputs[weightsAt(stages)]!, elementType: float };
  const whole = loopsOf(type.shape.length);
  let floats: Value | null = null;
  for (const { inputs: own, maps: to, steps } of stages) {
    const given: Value[] = own.map((one) => (one === null ? floats! : left.shift()!));
    const into = writer.empty(type);
    floats =
      typeof steps === 'string'
        ? writer.define(into, dequantizeText(given, [...to, whole], whole, steps === 'unsigned', into))
        : writer.generic({
            ...{ loops: whole, maps: [...to, whole], inputs: given, into },
            ...bodyText(typesOf(own, float), steps),
          });
  }
  return floats!;
}

function dequantizeText(
  inputs: readonly Value[],
  to: readonly string[],
  loops: string,
  isUnsigned: boolean,
  into: Value,
): string {
  const [least, most] = rangeOf(isUnsigned);
  const signs = `${isUnsigned ? ', input_unsigned' : ''}${isUnsigned && isByte(inputs[2] ?? null) ? ', zp_unsigned' : ''}`;
  const all = to.map((one) => `affine_map<(${loops}) -> (${one})>`).join(', ');
  const [names, types] = [inputs.map((one) => one.name), inputs.map(typeText)].map((one) => one.join(', '));
  const type = tensorText(into);
  return `iree_linalg_ext.dequantize_affine <indexing_maps = [${all}], quant_min = ${least!}, quant_max = ${most!}${signs}> ins(${names!} : ${types!}) outs(${into.name} : ${type}) -> ${type}`;
}

/** Floats stay. Integers of 8 bits are exact as f16, which is read in less time. */
export function asFloats(writer: Writer, value: Value, isUnsigned: boolean): Value {
  if (isFloat(value.elementType)) return value;
  const to = { ...value, elementType: elementBits(value.elementType) > 8 ? 'f32' : 'f16' };
  const convert = floatConversion(value.elementType, isUnsigned);
  return writer.define(to, `${convert} ${value.name} : ${tensorText(value)} to ${tensorText(to)}`);
}
