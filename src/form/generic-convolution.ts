// The text of convolutions of integers that the compiler makes of quantized operations: generic operations over the dimensions n, f, h, w, c, y, x.
import { withoutLocations } from '../compiler/locations.ts';
import { genericText, type Value } from './text.ts';

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
  /\^bb0\((%\w+): \w+, (%\w+): \w+, (%\w+): (\w+)\):\s+(%\w+) = (arith\.ext[us]i) \1 : \w+ to \4\s+(%\w+) = arith\.extsi \2 : \w+ to \4\s+(%\w+) = arith\.muli \5, \7 : \4\s+(%\w+) = arith\.addi \3, \8 : \4\s+linalg\.yield \9 : \4\s+\}/;

/** Reads the text of an operation, without its name's results; null for other operations. */
export function readGenericConvolution(text: string): GenericConvolution | null {
  const head = HEAD.exec(text);
  const widening = BODY.exec(withoutLocations(text))?.[6];
  if (head === null || !isWidening(widening)) return null;
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
  const wide = into.elementType;
  return genericText({
    ...{ loops: LOOPS, maps: [`d0, d4, ${along.join(', ')}`, FILTER, RESULT], inputs: [image, filter], into },
    body: [
      `%a = ${widening} %x0 : ${image.elementType} to ${wide}`,
      `%b = arith.extsi %x1 : ${filter.elementType} to ${wide}`,
      `%p = arith.muli %a, %b : ${wide}`,
      `%s = arith.addi %out, %p : ${wide}`,
    ],
    gives: '%s',
  });
}
