// Images that are resized to whole multiples of their rows and columns: each pixel is repeated (nearest neighbour), as before the convolutions of
// decoders and detectors. Exporters compute the place of each pixel in floats, and the compiler then reads one element at a time. In their
// form, the image is broadcast.
import { createHash } from 'node:crypto';
import { VALUE } from '../compiler/symbol.ts';
import { withoutLocations } from '../compiler/locations.ts';
import { bufferOf } from '../system/bytes.ts';
import { isTensor, tensorFromText, tensorText, typeName, type Tensor } from '../workload/tensor.ts';
import { areSteps, INDEX, operationFrom, stepOf, stepText, type ScalarOperation, type Step } from './body.ts';
import { isBetweenImages, type ReplaceableKind } from './form.ts';
import { CHANNELS_FIRST, CHANNELS_LAST } from './parts.ts';
import { computing } from './scalar-chain.ts';
import {
  definitionIn,
  genericText,
  listOf,
  permuted,
  type Value,
  type Writer,
  type Written,
} from './text.ts';

export interface Repeat {
  readonly name: typeof NAME;
  readonly image: Tensor;
  /** The same dimensions, each as long or a multiple. */
  readonly result: Tensor;
  /** For each dimension, how a place in the image is made of one in the result. Empty for the same place, or for the only one. */
  readonly places: readonly (readonly Step[])[];
}

const NAME = 'repeat';

const [PLAIN, LAST] = ['repeated', 'repeated-channels-last'] as const;

/** Longer dimensions are not computed. */
const MOST_PLACES = 2 ** 14;

/** Images with channels have this rank. */
const RANK = 4;

/** Such as `repeat 1x64x20x20xf32->1x64x40x40xf32 3f5a01c2`. */
const repeatKey = ({ name, image, result, places }: Repeat): string =>
  `${name} ${typeName(image)}->${typeName(result)} ${createHash('sha256').update(JSON.stringify(places)).digest('hex').slice(0, 8)}`;

/**
 * Those in a text of the compiler. An element is matched by the types of its image and its places, so none is found where other operations read
 * elements of such an image.
 */
export function readRepeats(text: Uint8Array): Repeat[] {
  const bytes = bufferOf(text);
  if (!bytes.includes('tensor.extract ')) return [];
  const found: Repeat[] = [];
  const others = new Set<string>();
  for (const { index, groups } of bytes.toString('latin1').matchAll(STATEMENT)) {
    const { maps, ins, type, inner } = groups as Partial<Record<string, string>>;
    const body = withoutLocations(inner!);
    const elements = [...body.matchAll(ELEMENT)].map((element) => element[1]!);
    if (elements.length === 0) continue;
    const repeat = ins === undefined ? readRepeat(maps!, type!, body, text, index) : null;
    if (repeat !== null) found.push(repeat);
    else for (const element of elements) others.add(element);
  }
  return found.filter(({ image }) => !others.has(tensorText(image)));
}

const STATEMENT = new RegExp(
  String.raw`= linalg\.generic \{indexing_maps = \[(?<maps>[^\]]*)\], iterator_types = \[[^\]]*\]\}(?<ins> ins\([^\n]*?\))? outs\(${VALUE} : (?<type>tensor<[^<>]*>)\) \{\n(?<inner>[^]*?)\n *\} -> `,
  'g',
);
const ELEMENT = / = tensor\.extract [^\n]*\] : (tensor<[^<>]*>)/g;
const GIVEN = new RegExp(
  String.raw`(${VALUE}) = tensor\.extract ${VALUE}\[([^\]]*)\] : (tensor<[^<>]*>)\s*linalg\.yield \1 : \w+\s*$`,
);
const LINE = new RegExp(String.raw`(${VALUE}) = ((?:arith|math)\.\w+) ([^\n]*)`, 'g');
const DIMENSION = new RegExp(String.raw`(${VALUE}) = linalg\.index (\d+) : index`, 'g');
const OF_CONSTANT = /^(arith\.constant) ([^\n]*)/;

/** The affine map of each element to itself. */
const identity = (rank: number): string => {
  const all = Array.from({ length: rank }, (_, d) => `d${d}`).join(', ');
  return `affine_map<(${all}) -> (${all})>`;
};

function readRepeat(
  maps: string,
  type: string,
  body: string,
  text: Uint8Array,
  start: number,
): Repeat | null {
  const [, , list, from] = GIVEN.exec(body) ?? [];
  const [image, result] = [from ?? '', type].map(tensorFromText);
  if (!image || !result || maps !== identity(result.shape.length)) return null;
  const dimensions = new Map([...body.matchAll(DIMENSION)].map(([, name, d]) => [name!, Number(d)]));
  const own = new Map([...body.matchAll(LINE)].map(([, name, ...rest]) => [name!, rest as [string, string]]));
  const definitionOf = (value: string): ScalarOperation | null => {
    const outside = OF_CONSTANT.exec(withoutLocations(definitionIn(text, value, start) ?? ''));
    const [name, rest] = own.get(value) ?? outside?.slice(1) ?? [];
    return name === undefined ? null : operationFrom(name, rest!);
  };
  const places = list!.split(', ').map((value, d) => {
    const isOnly = image.shape[d] === 1 && definitionOf(value)?.text === '0';
    if (isOnly || dimensions.get(value) === d) return [];
    return stepsTo(value, (one) => dimensions.get(one) === d, definitionOf);
  });
  const repeat = { name: NAME, image, result, places };
  return isRepeat(repeat) ? repeat : null;
}

/** The steps that make a value of a place; null if something else is among them. A constant is a step of its own for each use. */
function stepsTo(
  value: string,
  isPlace: (value: string) => boolean,
  definitionOf: (value: string) => ScalarOperation | null,
): Step[] | null {
  const steps: Step[] = [];
  const numbers = new Map<string, number>();
  const numberOf = (one: string): number => {
    if (isPlace(one)) return 0;
    const known = numbers.get(one);
    if (known !== undefined) return known;
    const definition = steps.length < MOST_STEPS ? definitionOf(one) : null;
    if (definition === null) return NaN;
    steps.push(stepOf(definition, numberOf));
    if (definition.of.length > 0) numbers.set(one, steps.length);
    return steps.length;
  };
  return Number.isNaN(numberOf(value)) ? null : steps;
}

const MOST_STEPS = 64;

/** Whether a value, for example from a file, is such an operation. Checks every field, because all are written into MLIR. */
export function isRepeat(value: unknown): value is Repeat {
  const { name, image, result, places } = (value ?? {}) as Partial<Record<keyof Repeat, unknown>>;
  if (name !== NAME || !isTensor(image) || !isTensor(result) || !Array.isArray(places)) return false;
  const factors = result.shape.map((size, d) => size / image.shape[d]!);
  return (
    image.elementType === result.elementType &&
    [image, result, { shape: places }].every(({ shape }) => shape.length === RANK) &&
    factors.some((factor) => factor > 1) &&
    factors.every((factor, d) => Number.isInteger(factor) && isRepeating(places[d], result.shape[d]!, factor))
  );
}

/** Whether steps give each place of the image as often as the factor says, in order. */
function isRepeating(steps: unknown, size: number, factor: number): boolean {
  if (Array.isArray(steps) && steps.length === 0) return factor === 1;
  if (size > MOST_PLACES || !areSteps(steps, [INDEX]) || steps.at(-1)!.type !== INDEX) return false;
  const columns = [Array.from({ length: size }, (_, place) => place)];
  for (const step of steps) {
    const compute = computing(
      step,
      step.of.map((one) => typeAt(steps, one)),
    );
    const [a, b, c] = step.of.map((one) => columns[one]!);
    columns.push(columns[0]!.map((i) => compute(a?.[i] ?? NaN, b?.[i] ?? NaN, c?.[i] ?? NaN)));
  }
  return columns.at(-1)!.every((place, i) => place === Math.floor(i / factor));
}

/** The type of an operand: of the place, or of a step. */
const typeAt = (steps: readonly Step[], i: number): string => (i === 0 ? INDEX : steps[i - 1]!.type);

/** The operation as the program has it: the element that it reads. */
function writtenRepeat({ image, result, places }: Repeat): Written {
  const operands = [{ ...image, name: '%image' }];
  const indices = places.map(
    (_, d) => ({ elementType: INDEX, shape: [], name: `%i${d}`, isScalar: true }) as const,
  );
  const nameIn = (d: number) => (i: number) => (i === 0 ? `%i${d}` : `%s${d}_${i}`);
  const before = places.flatMap((steps, d) =>
    steps.map((step, i) => `${nameIn(d)(i + 1)} = ${stepText(step, (one) => typeAt(steps, one), nameIn(d))}`),
  );
  const list = places.map((steps, d) => nameIn(d)(steps.length)).join(', ');
  const operation = `tensor.extract %image[${list}] : ${tensorText(image)}`;
  const into = { ...result, name: '%into' };
  const loops = places.map((_, d) => `d${d}`).join(', ');
  const own = places.map((steps, d) =>
    image.shape[d] === 1 && steps.length === 0
      ? `%i${d} = arith.constant 0 : index`
      : `%i${d} = linalg.index ${d} : index`,
  );
  const body = [...own, ...before, `%element = ${operation}`];
  const whole = genericText({ loops, maps: [loops], inputs: [], into, body, gives: '%element' });
  return {
    ...{ operands, list: listOf([...operands, ...indices]), before: before.join('\n      '), operation },
    ...{ isInBody: true, type: tensorText(result) },
    alone: { operands, body: `%into = tensor.empty() : ${tensorText(into)}\n  %0 = ${whole}` },
  };
}

/** Writes the image with each pixel as often as the result has it. */
function repeated(writer: Writer, image: Value, result: Tensor): Value {
  const factors = result.shape.map((size, d) => size / image.shape[d]!);
  const names = factors.map((factor, d) => (factor === 1 ? [`d${d}`] : [`d${d}`, `r${d}`]));
  const sizes = factors.map((factor, d) => (factor === 1 ? [image.shape[d]!] : [image.shape[d]!, factor]));
  const into = writer.empty({ ...result, shape: sizes.flat() });
  const maps = [names.map(([name]) => name).join(', '), names.flat().join(', ')];
  const all = writer.generic({ loops: maps[1]!, maps, inputs: [image], into });
  let next = 0;
  return writer.collapse(
    all,
    names.map((group) => group.map(() => next++)),
  );
}

export const repeats: ReplaceableKind<Repeat> = {
  is: isRepeat,
  key: repeatKey,
  read: (text) => readRepeats(text),
  writtenOf: writtenRepeat,
  resultOf: ({ result }) => result,
  formsOf: ({ image, result }, neighbours) => {
    const hasChannelsFirst = image.shape[1] === result.shape[1] && image.shape[3] !== result.shape[3];
    const isBetween = hasChannelsFirst && isBetweenImages({ operands: [image], result }, neighbours);
    return [{ name: isBetween ? LAST : PLAIN }];
  },
  write(writer, { result }, [image], { name }) {
    if (name === PLAIN) return { value: repeated(writer, image!, result) };
    const last = repeated(writer, writer.move(image!, CHANNELS_LAST), permuted(result, CHANNELS_LAST));
    return { value: writer.transpose(last, CHANNELS_FIRST), images: [result] };
  },
};
