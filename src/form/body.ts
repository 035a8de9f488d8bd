// Bodies of generic operations as steps: one operation after another, each on elements of the inputs or on results of earlier steps.
import { isIntegerWithin } from '../system/data.ts';
import { elementBits, isFloat, isInteger, isSimpleType } from '../workload/element-type.ts';
import { withoutLocations } from '../compiler/locations.ts';
import type { Value } from './text.ts';

export interface Step {
  /** Such as `arith.mulf`. */
  readonly name: string;
  /** Its operands: inputs of the generic operation, its result so far, then the steps, in this order. */
  readonly of: readonly number[];
  /** Its result. */
  readonly type: string;
}

/** Conversions have one operand, the others two of the type of the result. */
const CONVERSIONS = ['arith.extf', 'arith.extsi', 'arith.extui', 'arith.sitofp', 'arith.uitofp'];
const COMBINATIONS = ['arith.mulf', 'arith.addf', 'arith.subf'];

/** The body of a generic operation. */
export interface Body {
  /** Element types of the inputs and of the result. */
  readonly types: readonly string[];
  readonly steps: readonly Step[];
}

const BLOCK = /\^bb0\(([^)]*)\):\s*([^]*?)linalg\.yield (%\w+) : \w+\s/;
const LINE = /^(%\w+) = (arith\.\w+) (%\w+)(?:, (%\w+))? : (\w+)(?: to (\w+))?$/;

/** Reads the body in the text of an operation. Null for another body than steps of these kinds, of which the last one gives the result. */
export function bodyIn(text: string): Body | null {
  const [, block, lines, given] = BLOCK.exec(withoutLocations(text)) ?? [];
  if (block === undefined) return null;
  const elements = block.split(', ').map((one) => one.split(': ') as [string, string]);
  const names = elements.map(([name]) => name);
  const steps: Step[] = [];
  for (const line of lines!.split('\n').map((one) => one.trim())) {
    if (line === '') continue;
    const [, result, name, first, second, from, to] = LINE.exec(line) ?? [];
    if (result === undefined) return null;
    const of = [first!, ...(second === undefined ? [] : [second])].map((one) => names.indexOf(one));
    steps.push({ name: name!, of, type: to ?? from! });
    names.push(result);
  }
  if (!areSteps(steps, elements.length) || names.at(-1) !== given) return null;
  return { types: elements.map(([, type]) => type), steps: inOneStep(steps, elements.length) };
}

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

/** Whether a value, for example from a file, is a list of steps after so many elements. */
export const areSteps = (value: unknown, elements: number): value is readonly Step[] =>
  Array.isArray(value) &&
  value.length > 0 &&
  (value as readonly unknown[]).every((step, i) => isStep(step, elements + i));

function isStep(value: unknown, before: number): boolean {
  const { name, of, type } = (value ?? {}) as Partial<Record<keyof Step, unknown>>;
  const among = [CONVERSIONS, COMBINATIONS].findIndex((all) => all.some((one) => one === name));
  return (
    among >= 0 &&
    Array.isArray(of) &&
    of.length === among + 1 &&
    of.every((one) => isIntegerWithin(one, 0, before - 1)) &&
    typeof type === 'string' &&
    isSimpleType(type)
  );
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
  const body = steps.map(({ name, of, type }, i) => {
    const converted = of.length === 1 ? `${typeOf(of[0]!)} to ` : '';
    return `%s${i} = ${name} ${of.map(nameOf).join(', ')} : ${converted}${type}`;
  });
  return { body, gives: `%s${steps.length - 1}` };
}

export const isConversion = (name: string): boolean => CONVERSIONS.includes(name);

/** The operation that makes floats of a narrower type. @param isUnsigned of integers */
export const floatConversion = (elementType: string, isUnsigned: boolean): string =>
  isFloat(elementType) ? 'arith.extf' : isUnsigned ? 'arith.uitofp' : 'arith.sitofp';

/** Whether steps have the types that their operations take. */
export function areTyped({ types, steps }: Body): boolean {
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
