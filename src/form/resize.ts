// Images that are resized, as in decoders, detectors and segmentation. Exporters compute places and weights of the image's pixels in the body of an
// operation, and the compiler then reads one element at a time. In their form, repeated pixels are a broadcast. Other images are products with
// one matrix for rows and one for columns.
import { createHash } from 'node:crypto';
import { VALUE } from '../compiler/symbol.ts';
import { withoutLocations } from '../compiler/locations.ts';
import { bufferOf } from '../system/bytes.ts';
import { isIntegerWithin } from '../system/data.ts';
import {
  elementsOf,
  isTensor,
  tensorFromText,
  tensorText,
  typeName,
  type Tensor,
} from '../workload/tensor.ts';
import { areSteps, INDEX, operationFrom, stepOf, stepText, type ScalarOperation, type Step } from './body.ts';
import { isBetweenImages, type ReplaceableKind } from './form.ts';
import { CHANNELS_FIRST, CHANNELS_LAST } from './parts.ts';
import {
  areOfPixels,
  typesOf,
  weightsOf,
  type Lines,
  type PixelSum,
  type Weights,
} from './resize-weights.ts';
import { plainDefinitionIn } from './definitions.ts';
import { genericText, listOf, type Value, type Writer, type Written } from './text.ts';

export interface Resize extends PixelSum {
  readonly name: typeof NAME;
}

const NAME = 'resize';

const [REPEATED, PRODUCTS, LAST] = ['repeated', 'rows-and-columns', '-channels-last'] as const;

/** Images with channels have this rank. */
const RANK = 4;

const PLACES = Array.from({ length: RANK }, () => INDEX);

/** Such as `resize 1x64x20x20xf32->1x64x40x40xf32 3f5a01c2`. */
function resizeKey({ name, image, result, before, reads, after }: Resize): string {
  const digest = createHash('sha256')
    .update(JSON.stringify([before, reads, after]))
    .digest('hex');
  return `${name} ${typeName(image)}->${typeName(result)} ${digest.slice(0, 8)}`;
}

/**
 * Those in a text of the compiler. A pixel is matched by the types of its image and its places, so none is found where other operations read
 * pixels of such an image.
 */
export function readResizes(text: Uint8Array): Resize[] {
  const bytes = bufferOf(text);
  if (!bytes.includes('tensor.extract ')) return [];
  const found: Resize[] = [];
  const others = new Set<string>();
  for (const { index, groups } of bytes.toString('latin1').matchAll(STATEMENT)) {
    const { maps, ins, type, inner } = groups as Partial<Record<string, string>>;
    const body = withoutLocations(inner!);
    const pixels = [...body.matchAll(PIXEL)].map(({ groups }) => groups as Pixel);
    if (pixels.length === 0) continue;
    const isOfPlaces = ins === undefined && maps === IDENTITY;
    const resize = isOfPlaces ? readResize(pixels, tensorFromText(type!), body, text, index) : null;
    if (resize !== null) found.push(resize);
    else for (const pixel of pixels) others.add(pixel.type);
  }
  return found.filter(({ image }) => !others.has(tensorText(image)));
}

const STATEMENT = new RegExp(
  String.raw`= linalg\.generic \{indexing_maps = \[(?<maps>[^\]]*)\], iterator_types = \[[^\]]*\]\}(?<ins> ins\([^\n]*?\))? outs\(${VALUE} : (?<type>tensor<[^<>]*>)\) \{\n(?<inner>[^]*?)\n *\} -> `,
  'g',
);
const PIXEL = new RegExp(
  String.raw`(?<name>${VALUE}) = tensor\.extract (?<image>${VALUE})\[(?<places>[^\]]*)\] : (?<type>tensor<[^<>]*>)`,
  'g',
);
const GIVEN = new RegExp(String.raw`linalg\.yield (${VALUE}) : \w+\s*$`);
const LINE = new RegExp(String.raw`(${VALUE}) = ((?:arith|math)\.\w+) ([^\n]*)`, 'g');
const DIMENSION = new RegExp(String.raw`(${VALUE}) = linalg\.index (\d+) : index`, 'g');
const OF_CONSTANT = /^(arith\.constant) ([^\n]*)/;

/** The affine map of each element to itself. */
const IDENTITY = 'affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>';

/** Names and type of a pixel that is read. */
type Pixel = Readonly<Record<'name' | 'image' | 'places' | 'type', string>>;

function readResize(
  pixels: readonly Pixel[],
  result: Tensor | null,
  body: string,
  text: Uint8Array,
  start: number,
): Resize | null {
  const images = new Set(pixels.map(({ image, type }) => `${image} ${type}`));
  const image = tensorFromText(pixels[0]!.type);
  const given = GIVEN.exec(body)?.[1];
  if (images.size !== 1 || !image || !result || given === undefined) return null;
  const dimensions = new Map([...body.matchAll(DIMENSION)].map(([, name, d]) => [name!, Number(d)]));
  const own = new Map([...body.matchAll(LINE)].map(([, name, ...rest]) => [name!, rest as [string, string]]));
  const definitionOf = (value: string): ScalarOperation | null => {
    const [name, rest] =
      own.get(value) ?? OF_CONSTANT.exec(plainDefinitionIn(text, value, start))?.slice(1) ?? [];
    return name === undefined ? null : operationFrom(name, rest!);
  };
  const before = new Steps(dimensions, RANK, definitionOf);
  const reads = pixels.map(({ places }) => places.split(', ').map((one) => before.numberOf(one)));
  const known = new Map([
    ...before.numbers,
    ...pixels.map(({ name }, i) => [name, before.size + i] as const),
  ]);
  const after = new Steps(known, before.size + pixels.length, definitionOf);
  const last = after.numberOf(given);
  const resize = { name: NAME, image, result, before: before.steps, reads, after: after.steps };
  return last === after.size - 1 && isResize(resize) ? resize : null;
}

/** The steps that make values of others, in order. */
class Steps {
  readonly steps: Step[] = [];
  readonly numbers: Map<string, number>;
  readonly #elements: number;
  readonly #definitionOf: (value: string) => ScalarOperation | null;

  /** @param elements number of values that are no steps @param numbers of values */
  constructor(
    numbers: ReadonlyMap<string, number>,
    elements: number,
    definitionOf: (value: string) => ScalarOperation | null,
  ) {
    this.numbers = new Map(numbers);
    this.#elements = elements;
    this.#definitionOf = definitionOf;
  }

  get size(): number {
    return this.#elements + this.steps.length;
  }

  /** The number of a value; NaN if something else than steps makes it. A constant is a step of its own for each use. */
  numberOf(value: string): number {
    const known = this.numbers.get(value);
    if (known !== undefined) return known;
    const definition = this.steps.length < MOST_STEPS ? this.#definitionOf(value) : null;
    if (definition === null) return NaN;
    this.steps.push(stepOf(definition, (one) => this.numberOf(one)));
    if (definition.of.length > 0) this.numbers.set(value, this.size - 1);
    return this.size - 1;
  }
}

const MOST_STEPS = 128;

/** Whether a value, for example from a file, is such an operation. Checks every field, because all are written into MLIR. */
export function isResize(value: unknown): value is Resize {
  const { name, image, result, before, reads, after } = (value ?? {}) as Partial<
    Record<keyof Resize, unknown>
  >;
  if (name !== NAME || !isTensor(image) || !isTensor(result)) return false;
  if (image.elementType !== result.elementType) return false;
  if ([image, result].some(({ shape }) => shape.length !== RANK)) return false;
  if (!areStepsOrNone(before, PLACES)) return false;
  const types = [...PLACES, ...before.map(({ type }) => type)];
  const isPlace = (one: unknown) =>
    isIntegerWithin(one, 0, types.length - 1) && types[one as number] === INDEX;
  const isRead = (one: unknown) => Array.isArray(one) && one.length === RANK && one.every(isPlace);
  if (!Array.isArray(reads) || reads.length === 0 || !reads.every(isRead)) return false;
  const all = [...types, ...reads.map(() => image.elementType)];
  if (!areStepsOrNone(after, all) || (after.length === 0 && reads.length > 1)) return false;
  const given = after.at(-1)?.type ?? image.elementType;
  return given === result.elementType && weightsOf(value as Resize) !== null;
}

const areStepsOrNone = (value: unknown, types: readonly string[]): value is readonly Step[] =>
  (Array.isArray(value) && value.length === 0) || areSteps(value, types);

/** The last operation in the body of the program's operation: it gives each pixel of the result. */
function writtenResize(resize: Resize): Written {
  const { image, result, before, reads, after } = resize;
  const operands = [{ ...image, name: '%image' }];
  const indices = PLACES.map(
    (_, d) => ({ elementType: INDEX, shape: [], name: `%i${d}`, isScalar: true }) as const,
  );
  const nameOf = (i: number) => (i < RANK ? `%i${i}` : `%s${i}`);
  const types = typesOf(resize);
  const typeOf = (i: number) => types[i]!;
  const texts = [
    ...before.map((step) => stepText(step, typeOf, nameOf)),
    ...reads.map(
      (places) => `tensor.extract %image[${places.map(nameOf).join(', ')}] : ${tensorText(image)}`,
    ),
    ...after.map((step) => stepText(step, typeOf, nameOf)),
  ];
  const lines = texts.map((text, i) => `${nameOf(RANK + i)} = ${text}`);
  const into = { ...result, name: '%into' };
  const loops = PLACES.map((_, d) => `d${d}`).join(', ');
  const body = [...PLACES.map((_, d) => `${nameOf(d)} = linalg.index ${d} : index`), ...lines];
  const gives = nameOf(RANK + lines.length - 1);
  const whole = genericText({ loops, maps: [loops], inputs: [], into, body, gives });
  const used = new Set([...before, ...after].flatMap(({ of }) => of).concat(reads.flat()));
  return {
    ...{ operands, list: listOf([...operands, ...indices.filter((_, d) => used.has(d))]) },
    ...{ before: lines.slice(0, -1).join('\n      '), operation: texts.at(-1)!, type: tensorText(result) },
    inBody: pathToPixel(resize),
    alone: { operands, body: `%into = tensor.empty() : ${tensorText(into)}\n  %0 = ${whole}` },
  };
}

/** Numbers of the operands on the way from the last step to a pixel of the image. */
function pathToPixel(resize: Resize): number[] {
  const { before, reads, after } = resize;
  const isOfPixels = areOfPixels(resize);
  const path: number[] = [];
  for (let step = after.at(-1); step !== undefined;) {
    const place = step.of.findIndex((one) => isOfPixels[one]);
    path.push(place);
    step = after[step.of[place]! - RANK - before.length - reads.length];
  }
  return path;
}

/** How often each place of a dimension is repeated; null for other lines. */
const countOf = (lines: Lines | null): number | null => (lines === null ? 1 : lines.repetitions);

/** Writes a resized image. @param all lines of each dimension, or null for one that stays as it is */
function resized(writer: Writer, image: Value, all: readonly (Lines | null)[]): Value {
  const counts = all.map(countOf);
  if (counts.every((count) => count !== null)) return repeated(writer, image, counts);
  return all.reduceRight<Value>(
    (value, one, d) => (one === null ? value : along(writer, value, d, one.weights)),
    image,
  );
}

/** The image with each pixel as often as the counts of the dimensions say. */
function repeated(writer: Writer, image: Value, counts: readonly number[]): Value {
  const names = counts.map((count, d) => (count === 1 ? [`d${d}`] : [`d${d}`, `r${d}`]));
  const shape = counts.flatMap((count, d) => (count === 1 ? [image.shape[d]!] : [image.shape[d]!, count]));
  const into = writer.empty({ ...image, shape });
  const maps = [names.map(([name]) => name).join(', '), names.flat().join(', ')];
  const all = writer.generic({ loops: maps[1]!, maps, inputs: [image], into });
  let next = 0;
  return writer.collapse(
    all,
    names.map((group) => group.map(() => next++)),
  );
}

/** The product of the weights with each line of an image along a dimension. */
function along(writer: Writer, image: Value, d: number, weights: Weights): Value {
  const [outer, inner] = [image.shape.slice(0, d), image.shape.slice(d + 1)];
  const [b, a] = [elementsOf(outer), elementsOf(inner)];
  const [k, o] = [image.shape[d]!, weights.length];
  const { elementType } = image;
  const isLast = a === 1;
  const matrix = isLast ? Array.from({ length: k }, (_, i) => weights.map((row) => row[i]!)) : weights;
  const type = { elementType, shape: isLast ? [k, o] : [o, k] };
  const own = writer.define(type, `arith.constant dense<"0x${hexOf(matrix)}"> : ${tensorText(type)}`);
  const isMatrix = isLast || b === 1;
  const all = image.shape.map((_, i) => i);
  const ends = isLast ? [d] : isMatrix ? [d + 1] : [d, d + 1];
  const groups = [0, ...ends].map((from, i) => all.slice(from, ends[i]));
  const lines = writer.collapse(image, groups);
  const into = writer.zeros({ elementType, shape: isLast ? [b, o] : isMatrix ? [o, a] : [b, o, a] });
  const product = isMatrix
    ? writer.contraction(isLast ? [lines, own] : [own, lines], into, ['mk', 'kp', 'mp'])
    : writer.contraction([own, lines], into, ['ok', 'bka', 'boa']);
  return writer.expand(product, groups, [...outer, o, ...inner]);
}

/** The bytes of a matrix of f32, in hexadecimal digits. */
const hexOf = (matrix: readonly (readonly number[])[]): string =>
  Buffer.from(Float32Array.from(matrix.flat()).buffer).toString('hex').toUpperCase();

export const resizes: ReplaceableKind<Resize> = {
  is: isResize,
  key: resizeKey,
  read: (text) => readResizes(text),
  writtenOf: writtenResize,
  resultOf: ({ result }) => result,
  // Before element-wise operations are fused: the pixel would be the operand of another operation then, and not the result.
  turn: 1,
  formsOf(resize, neighbours) {
    const { image, result } = resize;
    const isRepeated = weightsOf(resize)!.every((one) => countOf(one) !== null);
    const hasChannelsFirst = image.shape[1] === result.shape[1] && image.shape[3] !== result.shape[3];
    const isBetween = hasChannelsFirst && isBetweenImages({ operands: [image], result }, neighbours);
    return [{ name: `${isRepeated ? REPEATED : PRODUCTS}${isBetween ? LAST : ''}` }];
  },
  write(writer, resize, [image], { name }) {
    const weights = weightsOf(resize)!;
    if (!name.endsWith(LAST)) return { value: resized(writer, image!, weights) };
    const moved = writer.move(image!, CHANNELS_LAST);
    const last = resized(
      writer,
      moved,
      CHANNELS_LAST.map((d) => weights[d]!),
    );
    return { value: writer.transpose(last, CHANNELS_FIRST), images: [resize.result] };
  },
};
