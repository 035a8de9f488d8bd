import { parse, type Operation, type ParseResult } from '../src/main.ts';

/** The bytes of a text. */
export function bytes(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

export function parseText(text: string, splitInputFile = false): ParseResult {
  return parse(bytes(text), { splitInputFile });
}

/** The only operation of a text that has no problems. */
export function only(text: string): Operation {
  const { operations, problems } = parseText(text);
  if (problems.length > 0) throw new Error(problems.map(({ message }) => message).join('\n'));
  if (operations.length !== 1) throw new Error(`found ${operations.length} operations`);
  return operations[0]!;
}

/** `tensor<3x5xf32>` for each operand, with `-1` as `?`. */
export function types(operation: Operation): string[] {
  return operation.operands.map(({ type }) =>
    type.kind === 'opaque'
      ? type.text
      : `${type.kind}<${type.shape === null ? '*x' : type.shape.map((size) => `${size < 0 ? '?' : size}x`).join('')}${type.elementType}${type.encoding === null ? '' : `, ${type.encoding}`}>`,
  );
}

/** What each operation of the table is written with: an example for every row of operations.json. */
export const examples: Readonly<
  Record<
    string,
    { readonly operands: readonly [string, string, string]; readonly maps?: string; readonly traits?: string }
  >
> = {
  'linalg.matmul': { operands: ['3x5', '5x7', '3x7'] },
  'linalg.batch_matmul': { operands: ['2x3x5', '2x5x7', '2x3x7'] },
  'linalg.batch_reduce_matmul': { operands: ['2x3x5', '2x5x7', '3x7'] },
  'linalg.matvec': { operands: ['3x5', '5', '3'] },
  'linalg.vecmat': { operands: ['3', '3x5', '5'] },
  'linalg.batch_matvec': { operands: ['2x3x5', '2x5', '2x3'] },
  'linalg.batch_vecmat': { operands: ['2x3', '2x3x5', '2x5'] },
  'linalg.dot': { operands: ['5', '5', ''] },
  'linalg.contract': {
    operands: ['3x5', '7x5', '3x7'],
    maps: '[affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>]',
  },
  'linalg.generic': {
    operands: ['3x5', '7x5', '3x7'],
    maps: '[affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]',
    traits: 'parallel parallel reduction',
  },
};

export const body = `{
    ^bb0(%x: f32, %y: f32, %z: f32):
      %p = arith.mulf %x, %y : f32
      %s = arith.addf %z, %p : f32
      linalg.yield %s : f32
    }`;

const typeOf = (shape: string): string => `tensor<${shape === '' ? '' : `${shape}x`}f32>`;

/** A module with one operation in one function, in its custom form; `attributes` is text such as `{foo}`. */
export function customForm(name: string, attributes = ''): string {
  const { operands, maps, traits } = examples[name]!;
  const [lhs, rhs, out] = operands.map(typeOf) as [string, string, string];
  const lists = `ins(%a, %b : ${lhs}, ${rhs}) outs(%c : ${out})`;
  const iterators = traits
    ?.split(' ')
    .map((trait) => `"${trait}"`)
    .join(', ');
  const operation =
    iterators === undefined
      ? `${name}${maps === undefined ? '' : ` indexing_maps = ${maps}`} ${attributes} ${lists} -> ${out}`
      : `${name} {indexing_maps = ${maps}, iterator_types = [${iterators}]} ${lists} ${attributes === '' ? '' : `attrs = ${attributes}`} ${body} -> ${out}`;
  return inFunction(operation, lhs, rhs, out);
}

/** The same in the quoted form. */
export function quotedForm(name: string, attributes = ''): string {
  const { operands, maps, traits } = examples[name]!;
  const [lhs, rhs, out] = operands.map(typeOf) as [string, string, string];
  const iterators = traits
    ?.split(' ')
    .map((trait) => `#linalg.iterator_type<${trait}>`)
    .join(', ');
  const properties = [
    ...(maps === undefined ? [] : [`indexing_maps = ${maps}`]),
    ...(iterators === undefined ? [] : [`iterator_types = [${iterators}]`]),
    'operandSegmentSizes = array<i32: 2, 1>',
  ].join(', ');
  const operation = `"${name}"(%a, %b, %c) <{${properties}}> (${body}) ${attributes} : (${lhs}, ${rhs}, ${out}) -> ${out}`;
  return inFunction(operation, lhs, rhs, out);
}

function inFunction(operation: string, lhs: string, rhs: string, out: string): string {
  return `func.func @main(%a: ${lhs}, %b: ${rhs}, %c: ${out}) -> ${out} {
  %0 = ${operation}
  return %0 : ${out}
}
`;
}
