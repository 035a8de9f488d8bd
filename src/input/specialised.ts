// A program with copies of its functions for known sizes of their arguments: the compiler knows every loop of a copy, and dynamic loops run at
// a fraction of its speed. The public function chooses a copy by the sizes of a call. All other calls run the function as written. Pure.
import { nameOfSymbol, SYMBOL } from '../compiler/symbol.ts';

/** Sizes to compile a function for. */
export interface KnownSizes {
  readonly function: string;
  /** The shape of each argument; null for an argument that is no tensor. */
  readonly shapes: readonly (readonly number[] | null)[];
}

/**
 * A function after the phase `abi`: its arguments are buffer views, which it asks for their dynamic sizes. The compiler prints it with two
 * spaces of indentation.
 */
const FUNCTION = new RegExp(
  String.raw`^ {2}util\.func public (${SYMBOL})\((.*?)\) (-> .*?)( attributes \{.*\})? \{\n([^]*?)^ {2}\}(.*)\n`,
  'gm',
);

/** A dynamic size of an argument. Groups: the value, the argument, the dimension, and the location. */
const SIZE = /^ {4}(%\w+) = hal\.buffer_view\.dim<%arg(\d+) : !hal\.buffer_view>\[(\d+)\] : index(.*)$/gm;

/** An argument as a tensor. Groups: the value, the rest of the operation, the shape, the element type, the sizes, and the location. */
const IMPORT =
  /^ {4}(%\w+) = (hal\.tensor\.import .*?) -> tensor<((?:[\d?]+x)+)(\w+)>\{((?:%\w+(?:, )?)+)\}(.*)$/gm;

/**
 * @param text of the program after the phase `abi`
 * @param wanted at most a few for each function
 * @returns null if the text has none of these functions with these dynamic sizes
 */
export function specialised(text: string, wanted: readonly KnownSizes[]): string | null {
  let copies = 0;
  const changed = text.replace(
    FUNCTION,
    (
      whole,
      symbol: string,
      args: string,
      results: string,
      written: string | undefined,
      body: string,
      location: string,
    ) => {
      const name = nameOfSymbol(symbol);
      const attributes = written ?? '';
      const sizes = [...body.matchAll(SIZE)].map(([, value, argument, dimension]) => ({
        value: value!,
        ...{ argument: Number(argument), dimension: Number(dimension) },
      }));
      // An exporter's function has a twin with fences, which has the body.
      const own = wanted.filter((one) => name === one.function || name === `${one.function}$async`);
      const known = own.flatMap(({ shapes }) => {
        const all = sizes.map((one) => ({ ...one, size: shapes[one.argument]?.[one.dimension] }));
        return all.length > 0 && all.every(({ size }) => size !== undefined) ? [all as readonly Size[]] : [];
      });
      const publicly = (own: string, itsBody: string) =>
        `  util.func public ${symbol}(${args}) ${results}${own} {\n${itsBody}  }${location}\n`;
      // Attributes of arguments are not copied.
      if (known.length === 0 || args.includes('{'))
        return DYNAMIC.test(body) ? whole : publicly(withSized(attributes), body);
      copies += known.length;
      const privately = (part: string, itsBody: string, more = '') =>
        `  util.func private ${partOf(symbol, part)}(${args}) ${results} attributes {${NEVER_INLINED}${more}} {\n${itsBody}  }${location}\n`;
      return [
        ...known.map((one, i) => privately(`sized${i}`, withSizes(body, one), `, ${SIZED}`)),
        privately('any', body),
        publicly(attributes, choice(symbol, args, results, known)),
      ].join('');
    },
  );
  return copies === 0 ? null : changed;
}

interface Size {
  readonly value: string;
  readonly argument: number;
  readonly dimension: number;
  readonly size: number;
}

/** An attribute of functions with known sizes: copies, and all that have no others. */
export const SIZED = 'iree_tuned.sized';

const DYNAMIC = /tensor<[^>]*\?/;

/** The attribute besides others. */
const withSized = (attributes: string): string =>
  attributes === '' ? ` attributes {${SIZED}}` : attributes.replace('{', `{${SIZED}, `);

const NEVER_INLINED = 'inlining_policy = #util.inline.never';

const partOf = (symbol: string, part: string): string =>
  symbol.endsWith('"') ? `${symbol.slice(0, -1)}$${part}"` : `${symbol}$${part}`;

/** A function's body with constants in place of its arguments' sizes. */
function withSizes(body: string, known: readonly Size[]): string {
  const sizes = new Map(known.map(({ value, size }) => [value, size]));
  return body
    .replace(SIZE, (_, value: string, _argument, _dimension, location: string) => {
      return `    ${value} = arith.constant ${sizes.get(value)!} : index${location}`;
    })
    .replace(
      IMPORT,
      (whole, value: string, rest: string, shape: string, type: string, list: string, location: string) => {
        const own = list.split(', ').map((one) => sizes.get(one));
        if (own.includes(undefined)) return whole;
        const fixed = shape.replaceAll('?', () => String(own.shift()));
        const from = `tensor<${fixed}${type}>`;
        const imported = `%imported_${value.slice(1)}`;
        return [
          `    ${imported} = ${rest} -> ${from}${location}`,
          `    ${value} = tensor.cast ${imported} : ${from} to tensor<${shape}${type}>${location}`,
        ].join('\n');
      },
    );
}

/** The body that calls the first copy with the sizes of its arguments, else the function as written. */
function choice(symbol: string, args: string, results: string, known: readonly (readonly Size[])[]): string {
  const declared = args.split(', ').map((one) => one.split(': ') as [value: string, type: string]);
  const values = declared.map(([value]) => value).join(', ');
  const argumentTypes = declared.map(([, type]) => type).join(', ');
  const types = typesOf(results);
  const list = types.join(', ');
  /** The results of an operation, and their use. */
  const made = (value: string) =>
    types.length === 0 ? '' : `${value}${types.length > 1 ? `:${types.length}` : ''} = `;
  const used = (operation: string, value: string): string[] =>
    types.length === 0
      ? []
      : [
          `${operation} ${types.map((_, i) => (types.length === 1 ? value : `${value}#${i}`)).join(', ')} : ${list}`,
        ];
  const call = (part: string): string[] => [
    `${made('%called')}util.call ${partOf(symbol, part)}(${values}) : (${argumentTypes}) -> (${list})`,
    ...used('scf.yield', '%called'),
  ];
  const chosen = known.reduceRight((others, sizes, i) => {
    const tests = sizes.flatMap(({ value, size }, j) => [
      `%size${i}_${j} = arith.constant ${size} : index`,
      `%is${i}_${j} = arith.cmpi eq, ${value}, %size${i}_${j} : index`,
      `%all${i}_${j} = arith.andi %${j === 0 ? 'true' : `all${i}_${j - 1}`}, %is${i}_${j} : i1`,
    ]);
    return [
      ...tests,
      `${made(`%result${i}`)}scf.if %all${i}_${sizes.length - 1} -> (${list}) {`,
      ...call(`sized${i}`).map(indented),
      '} else {',
      ...others.map(indented),
      '}',
      ...used(i === 0 ? 'util.return' : 'scf.yield', `%result${i}`),
    ];
  }, call('any'));
  const lines = [
    '%true = arith.constant true',
    ...known[0]!.map(
      ({ value, argument, dimension }) =>
        `${value} = hal.buffer_view.dim<%arg${argument} : !hal.buffer_view>[${dimension}] : index`,
    ),
    ...chosen,
    ...(types.length === 0 ? ['util.return'] : []),
  ];
  return lines.map((line) => `    ${line}\n`).join('');
}

const indented = (line: string): string => `  ${line}`;

/** The types of `-> (i32, index)`, of `-> i32`, or of nothing. */
const typesOf = (results: string): string[] =>
  results
    .replace(/^-> |[()]/g, '')
    .split(', ')
    .filter((type) => type !== '');
