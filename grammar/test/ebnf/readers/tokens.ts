import { skipBalanced, skipElement, skipGroup } from '../../../src/balanced.ts';
import * as scanner from '../../../src/scanner.ts';
import { bytesOf, type Reader } from '../reader.ts';

/** Reads a production that only has an end; `endOf` gives its offset, or -1. */
function upTo(
  production: string,
  endOf: (text: string) => number,
  examples: readonly string[],
  refused: readonly string[] = [],
): Reader {
  return {
    ...{ production, examples, refused },
    read: (text) => (endOf(text) === text.length ? true : null),
    says: () => true,
  };
}

function token(
  production: string,
  kind: number,
  examples: readonly string[],
  refused: readonly string[],
): Reader {
  const endOf = (text: string): number => {
    const one = new scanner.Scanner(bytesOf(text));
    return one.next() === kind ? one.skipTrivia(one.pos) : -1;
  };
  return upTo(production, endOf, examples, refused);
}

/** Where `skip` ends that starts at the text, with `after` behind it. */
function skipped(after: string, skip: (one: scanner.Scanner) => number): (text: string) => number {
  return (text) => {
    const one = new scanner.Scanner(bytesOf(text + after));
    const end = skip(one);
    return end < 0 ? -1 : one.skipTrivia(end);
  };
}

const values = [
  '%a #1',
  '%a // #2\n#0',
  '%',
  '%a',
  '%_',
  '%$',
  '%.',
  '%-',
  '%0',
  '%000',
  '%az0_$.-',
  '%a#0',
  '%0#123',
  '%#1',
];
const balanced = [
  'a',
  '(a) [b] {c} <d> e',
  '[(a), [b], <c>]',
  'a.b <= "]" : -> 1',
  '#a.b<//> !c<d // (e)> f',
];

export const tokenReaders: readonly Reader[] = [
  upTo('trivia', (text) => new scanner.Scanner(bytesOf(text)).skipTrivia(0), [
    ...['', ' \t\n\r\0 ', '// a /', '//\n// b\r '],
  ]),
  token('bare-id', scanner.IDENTIFIER, ['a', '_', 'Z9_$.a', '_0', 'a$', 'a.', 'aa'], ['0a', 'a-b', 'a b']),
  token('number', scanner.NUMBER, ['0', '00', '0a1', '0_', '1$', '1.'], ['a', '-1', '1-2']),
  token(
    'string',
    scanner.STRING,
    ['""', '"a}/\xe9"', '"\\""', '"\\\\"', '"\\\n"'],
    ['"', '"\\"', '"\n"', '"" ""'],
  ),
  token('value-id', scanner.VALUE, values, ['%0x', '%a#', '%a#b', '%a#0b']),
  token('symbol-id', scanner.SYMBOL, ['@', '@a', '@0_$.', '@""', '@"a b"'], ['@"', '@a-b']),
  token('attribute-id', scanner.ATTRIBUTE_NAME, ['#', '#a.b', '#0'], ['#0a', '#-}']),
  token('type-id', scanner.TYPE_NAME, ['!', '!a', '!12'], ['!0.a', '!a->']),
  token('block-id', scanner.BLOCK_NAME, ['^', '^bb0', '^0'], ['^0:', '^a#0']),
  upTo('opaque', skipped(')', skipBalanced), ['', ...balanced, 'a, (b), c']),
  upTo('element', skipped(', a)', skipElement), [
    ...balanced,
    ...['(d0 >= 3, d1 < 2)', '[a > b]', '{(a) > b, {}}', '<(), [], {}, <>, a>', '[(b)]', '{[b]}'],
  ]),
  upTo(
    'brackets',
    skipped('', (one) => (one.next(), skipGroup(one))),
    [...['()', '[]', '<>', '(a)', '[a]', '<a>']],
  ),
];
