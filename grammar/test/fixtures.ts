import { parse, type Operation, type ParseResult, typeText } from '../src/main.ts';
import { rows } from '../src/table.ts';
import { examples, type Example } from './examples.ts';

/** The bytes of a text. */
export function bytes(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

export function parseText(text: string, splitInputFile = false): ParseResult {
  return parse(bytes(text), { splitInputFile });
}

/** The only operation of a text. @throws Error for problems or another number of operations */
export function only(text: string): Operation {
  const { operations, problems } = parseText(text);
  if (problems.length > 0) throw new Error(problems.map(({ message }) => message).join('\n'));
  if (operations.length !== 1) throw new Error(`found ${operations.length} operations`);
  return operations[0]!;
}

/** The types of the operands as text: `tensor<3x5xf32>`. */
export function types(operation: Operation): string[] {
  return operation.operands.map(({ type }) => typeText(type));
}

export const body = `{
    ^bb0(%x: f32, %y: f32, %z: f32):
      %p = arith.mulf %x, %y : f32
      %s = arith.addf %z, %p : f32
      linalg.yield %s : f32
    }`;

/** The full type of an operand of an example. */
export function typeOf(text: string): string {
  if (/[^\dx]/.test(text)) return text;
  return `tensor<${text === '' ? '' : `${text}x`}f32>`;
}

/** The full types of an example's results. */
export function resultsOf({ operands, result, results }: Example): string[] {
  return (results ?? [result ?? operands.at(-1)!]).map(typeOf);
}

/** The operands of an example. */
export function valuesOf({ operands }: Example): string[] {
  return operands.map((_, index) => `%${'abcdefghijklmnop'.charAt(index)}`);
}

/** A module with one operation in one function, in the custom form. @param attributes text such as `{foo}` */
export function customForm(name: string, attributes = ''): string {
  const example = examples[name]!;
  if (example.onlyQuoted === true) return quotedForm(name, attributes);
  const { maps, traits } = example;
  const row = rows.find((candidate) => candidate.name === name)!;
  const values = valuesOf(example);
  const operands = example.operands.map(typeOf);
  const results = resultsOf(example);
  const result = results.join(', ');
  const list = (from: number, to: number): string =>
    `(${values.slice(from, to).join(', ')} : ${operands.slice(from, to).join(', ')})`;
  const lists = `ins${list(0, row.inputs)} outs${list(row.inputs, values.length)}`;
  const iterators = traits
    ?.split(' ')
    .map((trait) => `"${trait}"`)
    .join(', ');
  const dictionary =
    example.attributes === undefined
      ? attributes
      : `{${[example.attributes, attributes.slice(1, -1)].filter((part) => part !== '').join(', ')}}`;
  const front = example.parenthesised === true ? `(${values.join(', ')})` : ` ${values.join(', ')}`;
  const written = {
    'before-ins': `${name}${maps === undefined ? '' : ` indexing_maps = ${maps}`} ${attributes} ${lists} -> ${result}`,
    'attrs-after-outs': `${name} {indexing_maps = ${maps}, iterator_types = [${iterators}]} ${lists} ${attributes === '' ? '' : `attrs = ${attributes}`} ${body} -> ${result}`,
    'before-types': `${name}${front}${example.clauses ?? ''} ${dictionary} : ${
      name.startsWith('torch.') ? operands.join(', ') : `(${operands.join(', ')})`
    } -> ${result}`,
    operator: `torch.operator "${name}"(${values.join(', ')}) ${attributes} : (${operands.join(', ')}) -> ${resultList(results)}`,
  };
  return inFunction(written[row.dictionary], example);
}

/** The same in the quoted form. */
export function quotedForm(name: string, attributes = ''): string {
  const example = examples[name]!;
  const { maps, traits, operands } = example;
  const row = rows.find((candidate) => candidate.name === name)!;
  const iterators = traits
    ?.split(' ')
    .map((trait) => `#linalg.iterator_type<${trait}>`)
    .join(', ');
  const inLinalg = name.startsWith('linalg.');
  const isOperator = row.dictionary === 'operator';
  const properties = [
    ...(maps === undefined ? [] : [`indexing_maps = ${maps}`]),
    ...(iterators === undefined ? [] : [`iterator_types = [${iterators}]`]),
    ...(example.properties === undefined ? [] : [example.properties]),
    ...(isOperator ? [`name = "${name}"`] : []),
    ...(inLinalg ? [`operandSegmentSizes = array<i32: ${row.inputs}, ${operands.length - row.inputs}>`] : []),
  ].join(', ');
  const between = `${properties === '' ? '' : ` <{${properties}}>`}${inLinalg ? ` (${example.region ?? body})` : ''}`;
  const operation = `"${isOperator ? 'torch.operator' : name}"(${valuesOf(example).join(', ')})${between} ${attributes} : (${operands.map(typeOf).join(', ')}) -> ${resultList(resultsOf(example))}`;
  return inFunction(operation, example);
}

const resultList = (types: readonly string[]): string =>
  types.length === 1 ? types[0]! : `(${types.join(', ')})`;

function inFunction(operation: string, example: Example): string {
  const values = valuesOf(example);
  const results = resultsOf(example);
  const parameters = example.operands.map((type, index) => `${values[index]!}: ${typeOf(type)}`);
  const several = results.length > 1;
  return `func.func @main(${parameters.join(', ')}) -> ${results[0]!} {
  %0${several ? `:${results.length}` : ''} = ${operation}
  return %0${several ? '#0' : ''} : ${results[0]!}
}
`;
}

/** Element types of all families, as the compiler prints them. */
export const elements = [
  ...[
    'f8E4M3FN',
    'f8E5M2',
    'f8E4M3FNUZ',
    'f8E5M2FNUZ',
    'f8E4M3B11FNUZ',
    'f8E3M4',
    'f8E8M0FNU',
    'f4E2M1FN',
    'f6E3M2FN',
  ],
  ...['i1', 'i4', 'ui8', 'si32', 'bf16', 'tf32', 'f64', 'index', 'none', 'complex<f32>', 'complex<f8E5M2>'],
  '!quant.uniform<i8:f32, 1.000000e-01:3>',
  '!quant.uniform<i8<-127:127>:f32:0, {1.000000e-01:-3,2.000000e-02}>',
  '!quant.uniform<i8<-8:7>:f32:{0:1, 1:2}, {{1.000000e-01, 2.000000e-01}}>',
  'tuple<f32, tensor<2xi8>>',
  'vector<4xf32>',
];
