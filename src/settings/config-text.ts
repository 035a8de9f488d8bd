// Parses a settings file: one flat JSON object, with `//` comments and trailing commas. A bundle of its own, which `index.ts` loads only
// if a file exists.
import { visit, type JSONVisitor } from 'jsonc-parser';

type Scalar = string | number | boolean;
export type ConfigValue = Scalar | readonly Scalar[];

export interface ConfigEntry {
  readonly key: string;
  readonly value: ConfigValue;
  /** Of the key, from 1, like the column. */
  readonly line: number;
  readonly column: number;
}

export interface ConfigText {
  /** In the order of the text; empty if there is a problem. */
  readonly entries: readonly ConfigEntry[];
  /** `line:column: expected ..., found ...` of the first error; null for none. */
  readonly problem: string | null;
}

/** Position of a token; offset, line and character count from 0. */
type Place = readonly [offset: number, length: number, line: number, character: number, ...unknown[]];

const KEY = 'a key in double quotes';
const VALUE = 'a value';
const MORE_KEYS = ', or }';
const MORE_VALUES = ', or ]';

export function parseConfigText(whole: string): ConfigText {
  // A byte order mark.
  const text = whole.replace(/^\ufeff/, '');
  const entries: ConfigEntry[] = [];
  let key = { key: '', line: 0, column: 0 };
  let list: Scalar[] | null = null;
  /** The expected token, for messages. */
  let next = '{';
  let problem = null as string | null;
  const refuse = (at: Place, expected = next): never => {
    const [offset, length, line, character] = at;
    const [found] = text.slice(offset, offset + length).split('\n', 1);
    problem = `${line + 1}:${character + 1}: expected ${expected}, found ${found || 'the end of the file'}`;
    throw new Error(problem);
  };
  const visitor: JSONVisitor = {
    onObjectBegin: (...at) => {
      if (next !== '{') refuse(at);
      next = KEY;
    },
    onObjectProperty: (name, ...at) => {
      key = { key: name, line: at[2] + 1, column: at[3] + 1 };
      next = ':';
    },
    onArrayBegin: (...at) => {
      if (next !== VALUE || list !== null) refuse(at);
      list = [];
      entries.push({ ...key, value: list });
    },
    onLiteralValue: (value: Scalar | null, ...at) => {
      if (next !== VALUE || value === null) return refuse(at);
      if (list === null) entries.push({ ...key, value });
      else list.push(value);
      next = list === null ? MORE_KEYS : MORE_VALUES;
    },
    onSeparator: (character) => {
      next = character === ':' || list !== null ? VALUE : KEY;
    },
    // At the end of the text the parser calls these with length 0.
    onArrayEnd: (_, length) => {
      if (length === 0) return;
      list = null;
      next = MORE_KEYS;
    },
    onObjectEnd: (_, length) => {
      if (length > 0) next = 'nothing more';
    },
    onComment: (offset, ...at) => {
      // The launcher's parser knows no block comments.
      if (text[offset + 1] === '*') refuse([offset, ...at], 'a comment that begins with //');
    },
    onError: (_, ...at) => refuse(at),
  };
  try {
    visit(text, visitor, { allowTrailingComma: true });
    return { entries, problem };
  } catch (error) {
    if (problem === null) throw error;
    return { entries: [], problem };
  }
}
