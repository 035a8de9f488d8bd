// The text of convolutions of integers that the compiler makes of quantized operations: generic operations over the dimensions n, f, h, w, c, y, x.
import { withoutLocations } from '../compiler/locations.ts';
import { genericText, type Generic, type Value } from './text.ts';

/** The operation that widens the image's signed or unsigned integers. Those of the filter are signed. */
export type Widening = 'arith.extsi' | 'arith.extui';

export const isWidening = (value: unknown): value is Widening =>
  value === 'arith.extsi' || value === 'arith.extui';

export interface GenericConvolution {
  readonly strides: readonly number[];
  readonly dilations: readonly number[];
  readonly widening: Widening;
}

const LOOPS = 'd0, d1, d2, d3, d4, d5, d6';
const FILTER = 'd1, d4, d5, d6';
const RESULT = 'd0, d1, d2, d3';
const KINDS = [...Array<string>(4).fill('parallel'), ...Array<string>(3).fill('reduction')]
  .map((kind) => `"${kind}"`)
  .join(', ');

const mapText = (results: string) => `affine_map<(${LOOPS}) -> (${results})>`;

const escaped = (text: string) => text.replaceAll(/[()[\]{}"+*]/g, '\\$&');
const PLACE = 'd0, d4, ([^,()]+), ([^,()]+)';
const HEAD = new RegExp(
  `^${escaped(`linalg.generic {indexing_maps = [${mapText('PLACE')}, ${mapText(FILTER)}, ${mapText(RESULT)}], iterator_types = [${KINDS}]}`).replace('PLACE', PLACE)} `,
);

/** The place of a pixel along one dimension: `d2 * 2 + d5`. */
const ALONG = /^(d[23])(?: \* (\d+))? \+ (d[56])(?: \* (\d+))?$/;

/** The sum of products of widened elements. */
const BODY =
  /\^bb0\((%\w+): \w+, (%\w+): \w+, (%\w+): (\w+)\):\s+(%\w+) = (arith\.ext[us]i) \1 : \w+ to \4\s+(%\w+) = (arith\.ext[us]i) \2 : \w+ to \4\s+(%\w+) = arith\.muli \5, \7 : \4\s+(%\w+) = arith\.addi \3, \9 : \4\s+linalg\.yield \10 : \4\s+\}/;

/** How the body of an operation widens both elements before it adds up their products; null for another body. */
export function wideningsIn(text: string): readonly [Widening, Widening] | null {
  const match = BODY.exec(withoutLocations(text));
  return match && [match[6] as Widening, match[8] as Widening];
}

/** The body as the compiler writes it, for the element types of both inputs and of the result. */
export const widenedProduct = (
  widenings: readonly [Widening, Widening],
  [lhs, rhs]: readonly [string, string],
  wide: string,
): Pick<Generic, 'body' | 'gives'> => ({
  body: [
    `%a = ${widenings[0]} %x0 : ${lhs} to ${wide}`,
    `%b = ${widenings[1]} %x1 : ${rhs} to ${wide}`,
    `%p = arith.muli %a, %b : ${wide}`,
    `%s = arith.addi %out, %p : ${wide}`,
  ],
  gives: '%s',
});

/** Reads the text of an operation, without its name's results; null for other operations. */
export function readGenericConvolution(text: string): GenericConvolution | null {
  const head = HEAD.exec(text);
  const [widening, ofFilter] = wideningsIn(text) ?? [];
  if (head === null || widening === undefined || ofFilter !== 'arith.extsi') return null;
  const along = head.slice(1).map((place) => ALONG.exec(place));
  const [rows, columns] = along;
  const isInOrder = rows?.[1] === 'd2' && rows[3] === 'd5' && columns?.[1] === 'd3' && columns[3] === 'd6';
  const factors = (which: 2 | 4) => along.map((match) => Number(match![which] ?? 1));
  return isInOrder ? { strides: factors(2), dilations: factors(4), widening } : null;
}

/** The operation as the compiler writes it. */
export function genericConvolutionText(
  { strides, dilations, widening }: GenericConvolution,
  [image, filter, into]: readonly [Value, Value, Value],
): string {
  const times = (loop: string, factor: number) => (factor === 1 ? loop : `${loop} * ${factor}`);
  const along = ['d2', 'd3'].map(
    (loop, i) => `${times(loop, strides[i]!)} + ${times(['d5', 'd6'][i]!, dilations[i]!)}`,
  );
  return genericText({
    ...{ loops: LOOPS, maps: [`d0, d4, ${along.join(', ')}`, FILTER, RESULT], inputs: [image, filter], into },
    ...widenedProduct([widening, 'arith.extsi'], [image.elementType, filter.elementType], into.elementType),
  });
}
