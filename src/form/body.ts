// Bodies of generic operations as steps: one operation after another, each on elements of the inputs or on results of earlier steps.
import { VALUE } from '../compiler/symbol.ts';
import { bufferOf } from '../system/bytes.ts';
import { isIntegerWithin } from '../system/data.ts';
import { elementBits, isFloat, isInteger } from '../workload/element-type.ts';
import { withoutLocations } from '../compiler/locations.ts';
import { OF_FLOATS, OF_INTEGERS } from './scalar-operations.ts';
import type { Value } from './text.ts';

export interface Step {
  /** Such as `arith.mulf`. */
  readonly name: string;
  /** Its operands: elements of the inputs and of the result so far, then the steps, in this order. */
  readonly of: readonly number[];
  /** Its result. */
  readonly type: string;
  /** A constant as the compiler writes it, or the predicate of a comparison. */
  readonly text?: string;
}

/** A step as it stands in a text. */
export interface ScalarOperation extends Omit<Step, 'of'> {
  /** Names and types of its operands. */
  readonly of: readonly string[];
  readonly from: readonly string[];
}

/** The body of a generic operation. */
export interface Body {
  /** Element types of the inputs and of the result. */
  readonly types: readonly string[];
  readonly steps: readonly Step[];
}

/** Conversions, and whether they are of floats, and to floats. */
const CONVERSIONS: Readonly<Record<string, readonly [isOfFloat: boolean, isToFloat: boolean]>> = {
  'arith.extf': [true, true],
  'arith.extsi': [false, false],
  'arith.extui': [false, false],
  'arith.trunci': [false, false],
  'arith.sitofp': [false, true],
  'arith.uitofp': [false, true],
  'arith.fptosi': [true, false],
  'arith.fptoui': [true, false],
};

const [CONSTANT, COMPARISON, CHOICE, TRUTH] = ['arith.constant', 'arith.cmpf', 'arith.select', 'i1'] as const;
/** The type of places in a tensor, and the conversion between it and integers. */
export const INDEX = 'index';
const INDEX_CAST = 'arith.index_cast';

const INTEGER_TEXT = /^-?\d+$/;
const FLOAT_TEXT = /^(?:-?\d+\.\d+(?:e[+-]\d+)?|0x[0-9A-F]+)$/;
const PREDICATE = /^[ou](?:gt|ge|lt|le|eq|ne)$/;

const REST = new RegExp(
  String.raw`^(?:(?<text>[^%\s,]+)(?:, | ))?(?<of>${VALUE}(?:, ${VALUE})*)?(?:^| )?: (?<from>\w+)(?: to (?<to>\w+))?$`,
);

/** An operation in a text, without locations. Null for a spelling that no step has. @param rest what stands behind its name */
export function operationFrom(name: string, rest: string): ScalarOperation | null {
  const { text, of = '', from, to } = REST.exec(rest)?.groups ?? {};
  if (from === undefined) return null;
  const operands = of === '' ? [] : of.split(', ');
  const types = operands.map((_, i) => (name === CHOICE && i === 0 ? TRUTH : from));
  const type = name === COMPARISON ? TRUTH : (to ?? from);
  return { name, of: operands, from: types, type, ...(text !== undefined && { text }) };
}

const IN_TEXT = new RegExp(
  String.raw`^ *(?:\^bb\d+\(|(?<result>${VALUE}) = (?<name>(?:arith|math)\.\w+) (?<rest>[^\n]*?)(?: loc\([^\n]*)?$)`,
  'gm',
);

/**
 * The operations on scalars in a text of a quantized program, in order. Null where a block begins. None for texts without a rounding.
 * @param definitions gets each operation by the name of its result, which blocks use again
 */
export function* definitionsIn(
  text: Uint8Array,
  definitions: Map<string, ScalarOperation>,
): Generator<{ result: string; definition: ScalarOperation | null } | null> {
  const bytes = bufferOf(text);
  if (!bytes.includes('math.roundeven')) return;
  for (const { groups = {} } of bytes.toString('latin1').matchAll(IN_TEXT)) {
    const { result, name, rest } = groups as Partial<Record<string, string>>;
    const definition = result === undefined ? null : operationFrom(name!, rest!);
    if (definition !== null) definitions.set(result!, definition);
    else if (result !== undefined) definitions.delete(result);
    yield result === undefined ? null : { result, definition };
  }
}

const BLOCK = new RegExp(String.raw`\^bb0\(([^)]*)\):\s*([^]*?)linalg\.yield (${VALUE}) : \w+\s`);
const LINE = new RegExp(String.raw`^(${VALUE}) = ((?:arith|math)\.\w+) (.*)$`);

/** Reads the body in the text of an operation. Null for another body than steps, of which the last one gives the result. */
export function bodyIn(text: string): Body | null {
  const [, block, lines, given] = BLOCK.exec(withoutLocations(text)) ?? [];
  if (block === undefined) return null;
  const elements = block.split(', ').map((one) => one.split(': ') as [string, string]);
  const types = elements.map(([, type]) => type);
  const names = elements.map(([name]) => name);
  const steps: Step[] = [];
  for (const line of lines!.split('\n').map((one) => one.trim())) {
    if (line === '') continue;
    const [, result, name, rest] = LINE.exec(line) ?? [];
    const operation = result === undefined ? null : operationFrom(name!, rest!);
    if (operation === null) return null;
    steps.push(stepOf(operation, (one) => names.indexOf(one)));
    names.push(result!);
  }
  if (!areSteps(steps, types) || names.at(-1) !== given) return null;
  return { types, steps: inOneStep(steps, elements.length) };
}

export const stepOf = (
  { name, of, type, text }: ScalarOperation,
  placeOf: (name: string) => number,
): Step => ({
  ...{ name, of: of.map(placeOf), type },
  ...(text !== undefined && { text }),
});

/** The compiler makes floats of widened integers without the widening, before it rewrites a program. */
const AT_ONCE: Readonly<Record<string, string>> = {
  'arith.uitofp': 'arith.extui',
  'arith.sitofp': 'arith.extsi',
};

/** Steps as they are when the compiler rewrites a program. @param elements number of inputs and results */
function inOneStep(steps: readonly Step[], elements: number): Step[] {
  const at = (i: number) => steps[i - elements];
  const direct = steps.map(({ of, ...one }) => {
    const before = at(of[0]!);
    const isAtOnce = before !== undefined && AT_ONCE[one.name] === before.name;
    return { ...one, of: isAtOnce ? before.of : of };
  });
  const used = new Set([elements + steps.length - 1, ...direct.flatMap(({ of }) => of)]);
  const kept = direct.filter((_, i) => used.has(elements + i));
  const places = direct.flatMap((_, i) => (used.has(elements + i) ? [elements + i] : []));
  const placeOf = (i: number) => (i < elements ? i : elements + places.indexOf(i));
  return kept.map(({ of, ...one }) => ({ ...one, of: of.map(placeOf) }));
}

/**
 * Whether a value, for example from a file, is a list of steps whose operations take the types that they get. Checks every field, because all are
 * written into MLIR.
 * @param types of the elements
 */
export const areSteps = (value: unknown, types: readonly string[]): value is readonly Step[] =>
  Array.isArray(value) &&
  value.length > 0 &&
  (value as readonly Step[]).every((step, i, all) =>
    isStep(step, [...types, ...all.slice(0, i).map(({ type }) => type)]),
  );

/** @param before types of the elements and of the steps before */
function isStep(value: unknown, before: readonly string[]): boolean {
  const { name, of, type, text } = (value ?? {}) as Partial<Record<keyof Step, unknown>>;
  if (typeof name !== 'string' || typeof type !== 'string' || !Array.isArray(of)) return false;
  if (!of.every((one) => isIntegerWithin(one, 0, before.length - 1))) return false;
  const from = (of as number[]).map((one) => before[one]!);
  const isOf = (...types: readonly string[]) => from.join() === types.join();
  const spelling =
    name === CONSTANT ? (isFloat(type) ? FLOAT_TEXT : INTEGER_TEXT) : name === COMPARISON ? PREDICATE : null;
  if (spelling === null ? text !== undefined : typeof text !== 'string' || !spelling.test(text)) return false;
  if (name === CONSTANT) return isOf() && (isFloat(type) || isWhole(type));
  if (name === INDEX_CAST)
    return from.length === 1 && [from[0]!, type].every(isWhole) && isOf(INDEX) !== (type === INDEX);
  if (name === COMPARISON) return type === TRUTH && isOf(from[0]!, from[0]!) && isFloat(from[0]!);
  if (name === CHOICE) return isOf(TRUTH, type, type) && (isFloat(type) || isInteger(type));
  if (Object.hasOwn(OF_FLOATS, name))
    return isFloat(type) && isOf(...Array.from({ length: OF_FLOATS[name]!.length }, () => type));
  if (Object.hasOwn(OF_INTEGERS, name)) return isWhole(type) && isOf(type, type);
  return Object.hasOwn(CONVERSIONS, name) && from.length === 1 && converts(name, from[0]!, type);
}

const isWhole = (type: string): boolean => type === INDEX || isInteger(type);

/** Whether a conversion takes one type to another one. */
function converts(name: string, from: string, to: string): boolean {
  const [isOfFloat, isToFloat] = CONVERSIONS[name]!;
  const isOf = isOfFloat ? isFloat(from) : isInteger(from);
  const isTo = isToFloat ? isFloat(to) : isInteger(to);
  if (!isOf || !isTo || isOfFloat !== isToFloat) return isOf && isTo;
  return name === 'arith.trunci' ? elementBits(to) < elementBits(from) : elementBits(to) > elementBits(from);
}

/** A step, without the name of its result. @param typeOf type of an operand @param nameOf name of an operand */
export function stepText(
  { name, of, type, text }: Step,
  typeOf: (i: number) => string,
  nameOf: (i: number) => string,
): string {
  const operands = [...(text === undefined ? [] : [text]), ...of.map(nameOf)];
  const from = of.length === 0 ? type : typeOf(of.at(-1)!);
  return `${name} ${operands.join(', ')} : ${from}${isConversion(name) ? ` to ${type}` : ''}`;
}

/**
 * The lines of a body, for a generic operation of `Writer`, and the name of what it gives.
 * @param types of the inputs and of the result
 */
export function bodyText(
  types: readonly string[],
  steps: readonly Step[],
): { body: string[]; gives: string } {
  const typeOf = (i: number) => types[i] ?? steps[i - types.length]!.type;
  const nameOf = (i: number) =>
    i < types.length - 1 ? `%x${i}` : i === types.length - 1 ? '%out' : `%s${i - types.length}`;
  const body = steps.map((step, i) => `%s${i} = ${stepText(step, typeOf, nameOf)}`);
  return { body, gives: `%s${steps.length - 1}` };
}

const isConversion = (name: string): boolean => name === INDEX_CAST || Object.hasOwn(CONVERSIONS, name);

/** Whether an operation converts numbers to a type that has all of them, or to floats. */
export const isWidening = (name: string): boolean =>
  isConversion(name) && name !== 'arith.trunci' && !TO_INTEGER.test(name);

/** Conversions of floats to integers. */
export const TO_INTEGER = /^arith\.fpto[us]i$/;

/** The operation that makes floats of a narrower type. @param isUnsigned of integers */
export const floatConversion = (elementType: string, isUnsigned: boolean): string =>
  isFloat(elementType) ? 'arith.extf' : isUnsigned ? 'arith.uitofp' : 'arith.sitofp';

/** Whether a body adds products of its two inputs to the result, as floats. Products may be widened before they are added. */
export function isSumOfProducts({ types, steps }: Body): boolean {
  if (types.length !== 3 || !types.every(isFloat)) return false;
  const [product, ...rest] = steps as [Step, ...Step[]];
  const isProduct = product.name === 'arith.mulf' && [...product.of].sort().join() === '0,1';
  const sum = rest.at(-1);
  const [first, last] = [3, 2 + rest.length];
  const isWidened = rest.length === 2 && rest[0]!.name === 'arith.extf' && rest[0]!.of[0] === first;
  return (
    isProduct &&
    (rest.length === 1 || isWidened) &&
    sum?.name === 'arith.addf' &&
    [...sum.of].sort((a, b) => a - b).join() === `2,${last}`
  );
}

/** Writes the body of a generic operation on f32. */
export class FloatBody {
  readonly inputs: Value[] = [];
  /** Results of the indexing map of each input. */
  readonly maps: string[] = [];
  readonly lines: string[] = [];

  /** A further input. Returns the name of its element. */
  input(value: Value, map: string): string {
    this.maps.push(map);
    return `%x${this.inputs.push(value) - 1}`;
  }

  /** The same, as f32. @param isUnsigned of integers */
  float(value: Value, map: string, isUnsigned = false): string {
    const name = this.input(value, map);
    const { elementType } = value;
    if (elementType === 'f32') return name;
    return this.define(`${floatConversion(elementType, isUnsigned)} ${name} : ${elementType} to f32`);
  }

  /** @param text of an operation, without the name of its result, which is returned */
  define(text: string): string {
    const name = `%e${this.lines.length}`;
    this.lines.push(`${name} = ${text}`);
    return name;
  }

  /** @param name such as `mulf` */
  combine(name: string, one: string, other: string): string {
    return this.define(`arith.${name} ${one}, ${other} : f32`);
  }

  constant(value: number, type = 'f32'): string {
    return this.define(`arith.constant ${type === 'f32' ? value.toFixed(1) : value} : ${type}`);
  }
}
