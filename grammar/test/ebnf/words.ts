import table from '../../operations.json' with { type: 'json' };
import { rows } from '../../src/table.ts';

/** The meaning of `? ... ?`. */
export interface Words {
  /** The source of a regular expression for all its texts. */
  readonly pattern: string;
  /** Some of these texts, for sentences. */
  readonly samples: readonly string[];
}

const STRING = String.raw`"(?:[^"\\\n]|\\[^])*"`;
const NAME = String.raw`[A-Za-z_][\w$.]*`;
/** Pattern of a dialect's body. @param depth of nested brackets */
function rawText(depth: number): string {
  const plain = `->|[^"<>()[\\]{}\\0-]|-(?!>)|${STRING}`;
  if (depth === 0) return `(?:${plain})*`;
  const inner = rawText(depth - 1);
  return `(?:${plain}|<${inner}>|\\(${inner}\\)|\\[${inner}\\]|\\{${inner}\\})*`;
}
const RAW_BODY = `<${rawText(4)}>`;
const TOKENS = [
  ...[String.raw`@?${STRING}`, String.raw`@[\w$.]*`, NAME, String.raw`\d[\w$.]*`],
  ...[String.raw`%(?:\d+|[\w$.-]*)(?:#\d+)?`, String.raw`\^(?:\d+|[\w$.-]*)`],
  // With its body it is another word.
  String.raw`(?!#-\})[#!](?:\d+(?!\d)|(?!\d)[\w$.-]*(?![\w$.-]))(?!${RAW_BODY})`,
  ...['->', '<=', String.raw`[-:=+*?/|&;~.$'\`\\]`],
].join('|');
const SAMPLES = ['"} )"', ...'f32 b.c 7 1x %v #a.b !c.d ^e @s -> <= - : = *'.split(' ')];

const either = (...parts: readonly string[]): string => `(?:${parts.join('|')})`;

/** The source of a regular expression for this text only. */
export const escape = (text: string): string => text.replace(/[.$*+?()[\]{}|\\^]/g, String.raw`\$&`);

/** Names of operations, or the same names in quotes. */
function names(list: readonly string[], quote = ''): Words {
  const end = quote === '' ? String.raw`(?![\w$.])` : '';
  const samples = list.map((name) => `${quote}${name}${quote}`);
  return { pattern: `${either(...samples.map(escape))}${end}`, samples };
}

const written = (...forms: readonly string[]): typeof rows =>
  rows.filter(({ dictionary }) => forms.includes(dictionary));
const namesOf = (list: typeof rows): string[] => list.map(({ name }) => name);
const beforeIns = written('before-ins');
const { sources, loads, globals, through, operators } = table.constants;

/** By the words between the question marks. */
export const words: Readonly<Record<string, Words>> = {
  'any byte': { pattern: '[^]', samples: ['a', '"', '\\', '\n', '2', '\xe9'] },
  'any byte but \\n and \\r': { pattern: '[^\\n\\r]', samples: ['a', '/', '"', '{', '\xe9', '\0'] },
  'any byte but \\ " and \\n': { pattern: '[^\\\\"\\n]', samples: ['a', '}', '/', '#', '\xe9', '\0', '\r'] },
  'A to Z, a to z': { pattern: '[A-Za-z]', samples: ['a', 'Q', 'x'] },
  '0 to 9': { pattern: '[0-9]', samples: ['0', '1', '7'] },
  'number of decimal digits': { pattern: String.raw`\d+(?![\w$.])`, samples: ['0', '2', '31'] },
  'number of 0x and hexadecimal digits': {
    pattern: String.raw`0x[\da-fA-F]+(?![\w$.])`,
    samples: ['0x1F', '0x0'],
  },

  'type-id with a dot, and no body': {
    pattern: String.raw`!(?=[A-Za-z_$-][\w$-]*\.|\.)[\w$.-]*(?![\w$.<-])`,
    samples: ['!a.b', '!.', '!c.d.e'],
  },
  'type-id without a dot, and no body': {
    pattern: String.raw`!(?:\d+(?![\d<])|(?!\d)[\w$-]*(?![\w$.<-]))`,
    samples: ['!t', '!0', '!u', '!'],
  },

  'text in angle brackets, all brackets in it closed': {
    pattern: RAW_BODY,
    samples: ['<>', '<c>', '<"}" // b>', '<(d) -> {e}>', '<[<f//>]>'],
  },

  'attribute-id but a number': { pattern: String.raw`#(?![\d}])[\w$.-]+`, samples: ['#a.b', '#c'] },

  // `d0 <= 3` is a comparison.
  '"<" before no "="': { pattern: '<(?!=)', samples: ['<'] },

  'token but a bracket or a comma': { pattern: TOKENS, samples: SAMPLES },
  'token but a number, a bracket, a comma or a size': {
    pattern: `(?![\\d?*])${either(TOKENS)}`,
    samples: ['f32', '!c.d', '!e', '-'],
  },
  'token but a brace': { pattern: `${TOKENS}|[()[\\]<>,]`, samples: [...SAMPLES, '(', ']', '<', ','] },
  'token but a parenthesis': {
    pattern: `${TOKENS}|[[\\]<>{},]`,
    samples: ['fused', 'at', '"s"', ',', '[', '>', '7'],
  },
  'token but a bracket, a value, a string or a name': {
    pattern: String.raw`[A-Za-z_][\w$]*(?![\w$.])|[#!^][\w$.-]*|\d[\w$.]*|->|[-:=+*?,]`,
    samples: [':', 'f32', '->', 'fastmath', '#loc', '7', ','],
  },
  'bytes without "// -----"': { pattern: '(?:(?!// -----)[^])*', samples: ['', 'a "', '/ // ----\n'] },

  'name in constants.sources': names(sources),
  'quoted name in constants.sources': names(sources, '"'),
  'name in constants.through': names(through),
  'quoted name in constants.through': names(through, '"'),
  'quoted name in constants.operators.sources': names(operators.sources, '"'),
  'quoted name in constants.operators.through': names(operators.through, '"'),
  'name in constants.loads': names(loads),
  'name in constants.globals': names(globals),

  'name of a row with "before-ins"': names(namesOf(beforeIns)),
  'name of such a row that takes maps': names(
    namesOf(beforeIns.filter(({ mapsKeyword }) => mapsKeyword !== 'never')),
  ),
  'name of a row with "attrs-after-outs"': names(namesOf(written('attrs-after-outs'))),
  'name of a row with "before-types"': names(namesOf(written('before-types'))),
  'quoted name of a row with "operator"': names(namesOf(written('operator')), '"'),
  'quoted name of any other row': names(
    namesOf(rows.filter(({ dictionary }) => dictionary !== 'operator')),
    '"',
  ),
  'name of the operation': names(['hal.executable']),
};
