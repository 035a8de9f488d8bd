import { dialectAttributes, integerOf, locationsOf, parse, symbolsOf } from '../../../src/main.ts';
import { Scanner } from '../../../src/scanner.ts';
import { leavesOf, type Tree } from '../derive.ts';
import { bytesOf, nameOf, partOf, partsOf, type Reader, Refused, textOf } from '../reader.ts';

/** A value starts with no brace, and with no name that `=` follows. */
function isNoValue(text: string, item: Tree): boolean {
  const [first, second] = leavesOf(item).map((leaf) => textOf(text, leaf));
  return first === '{' || (second === '=' && /^[A-Za-z_"]/.test(first!));
}

const dialectAttribute: Reader = {
  production: 'dialect-attribute',
  examples: [
    ...['#a.b<>', '#a.b<1>', '#a.b<"x", [1, 2], {a = 1, "b c", "d" = (e)}, e = f : i1, "g" = #h<i>, (j) k>'],
    ...['#a.b<{}>', '#a.b<{a}, {b}, <c>>'],
  ],
  choices: { 'dialect-attribute/attribute-id': [['#a.b']] },
  read: (text) => {
    const scanner = new Scanner(bytesOf(text));
    const [one, ...more] = dialectAttributes(bytesOf(text), '#a.b');
    if (one === undefined || more.length > 0 || one.start !== scanner.skipTrivia(0)) return null;
    return scanner.skipTrivia(one.end) === text.length ? [one.values, [...one.entries]] : null;
  },
  says: (text, tree) => {
    const values: string[] = [];
    const entries = new Map<string, string>();
    for (const item of partsOf(tree, 'item')) {
      const isBraced = partOf(item, '"{"') !== undefined;
      for (const { children } of isBraced ? partsOf(item, 'entry') : [item]) {
        const [name, equals, value] = children;
        if (isBraced || equals !== undefined)
          entries.set(nameOf(text, name!), value ? textOf(text, value) : 'unit');
        else if (isNoValue(text, item)) throw new Refused();
        else values.push(textOf(text, item));
      }
    }
    return [values, [...entries]];
  },
};

const location: Reader = {
  production: 'location',
  examples: [
    ...['loc()', 'loc("a b":1:2)', 'loc(unknown)', 'loc(((a)))'],
    'loc(fused<"p">["a":1:2, #l, (#l), "x"("b" : 03 : 4)] "c":d)',
  ],
  choices: { 'places/attribute-id': [['#l', '#m']] },
  expendable: /^(?:loc|[()])$/,
  read: (text) => {
    const operation = 'linalg.matmul ins(%a, %b : f32, f32) outs(%c : f32)';
    const input = bytesOf(`${operation} ${text} "end":7:8\n#l = loc("alias":5:6)`);
    return locationsOf(input, parse(input).operations)[0];
  },
  says: (text, tree) => {
    let isAliasKnown = false;
    const places = (list: Tree): unknown[] =>
      list.children.flatMap((one) => {
        if (one.label === 'places') return places(one);
        if (one.label === 'attribute-id' && textOf(text, one) === '#l' && !isAliasKnown) {
          isAliasKnown = true;
          return [{ file: 'alias', line: 5, column: 6 }];
        }
        if (one.label !== 'place') return [];
        const [line, column] = partsOf(one, 'decimal').map((number) => Number(textOf(text, number)));
        return [{ file: nameOf(text, partOf(one, 'string')!), line, column }];
      });
    return places(partOf(tree, 'places')!);
  },
};

const symbolDefinition: Reader = {
  production: 'symbol-definition',
  examples: ['public @"b c"', '@a', 'private @d', 'nested public @e'].map((one) => `hal.executable ${one}`),
  read: (text) => symbolsOf(bytesOf(text), 'hal.executable')[0] ?? null,
  says: (text, tree) => {
    const symbol = partOf(tree, 'symbol-id')!;
    return nameOf(text, { ...symbol, start: symbol.start + 1 });
  },
};

const integer: Reader = {
  production: 'integer',
  examples: ['a = 1', '"b c" = - 12 : i64', 'a = 0x1F', 'a = -0x1f : b (c)'],
  // The type behind the colon is not read.
  expendable: /^[()[\]{}<>]$/,
  read: (text) => integerOf(bytesOf(text), { name: '', start: 0, end: text.length }),
  says: (text, tree) => {
    const number = Number(textOf(text, (partOf(tree, 'decimal') ?? partOf(tree, 'hexadecimal'))!));
    return partOf(tree, '"-"') ? -number : number;
  },
};

export const questionReaders: readonly Reader[] = [dialectAttribute, location, symbolDefinition, integer];
