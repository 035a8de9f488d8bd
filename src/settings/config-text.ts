// The text of a settings file: one JSON object without nesting, `//` comments allowed. JSON.parse says neither where a
// key stands nor, for some mistakes, where the mistake is; people who wrote the file want to know.

export type ConfigValue = string | number | boolean | readonly (string | number | boolean)[];

export interface ConfigEntry {
  readonly key: string;
  readonly value: ConfigValue;
  /** Of the key, both from 1. */
  readonly line: number;
  readonly column: number;
}

/** The text is not what a settings file holds; `place` is `line:column`. */
export class ConfigTextError extends Error {
  override readonly name = 'ConfigTextError';
  readonly place: string;

  constructor(message: string, place: string) {
    super(message);
    this.place = place;
  }
}

/**
 * Entries in the order of the text.
 * @throws ConfigTextError
 */
export function parseConfigText(text: string): ConfigEntry[] {
  // Blanks and comments, then a string, a word or number, any other character, or the end.
  const token = /(?:\s|\/\/[^\n]*)*("(?:[^"\\\n]|\\.)*"|[\w.+-]+|[^]?)/y;
  let current = '';
  let start = 0;
  const advance = () => {
    current = token.exec(text)![1]!;
    start = token.lastIndex - current.length;
  };
  const expected = (what: string): never => {
    const found = current === '' ? 'the end of the file' : current;
    const { line, column } = placeOf(text, start);
    throw new ConfigTextError(`expected ${what}, found ${found}`, `${line}:${column}`);
  };
  const take = (what: string) => {
    if (current !== what) expected(what);
    advance();
  };
  const scalar = (what: string): string | number | boolean => {
    const value = scalarOf(current);
    if (value === undefined) return expected(what);
    advance();
    return value;
  };
  /** What stands between the brackets, which may be nothing. */
  const list = <T>(open: string, close: string, item: () => T): T[] => {
    const items: T[] = [];
    take(open);
    while (current !== close) {
      items.push(item());
      if (current === ',') advance();
      else if (current !== close) expected(`, or ${close}`);
    }
    advance();
    return items;
  };

  advance();
  const entries = list('{', '}', (): ConfigEntry => {
    const place = placeOf(text, start);
    if (!current.startsWith('"')) expected('a key in double quotes');
    const key = String(scalar('a key in double quotes'));
    take(':');
    const value = current === '[' ? list('[', ']', () => scalar('a value')) : scalar('a value');
    return { key, value, ...place };
  });
  if (current !== '') expected('nothing more');
  return entries;
}

/** Undefined for what is no string, number, true or false. */
function scalarOf(token: string): string | number | boolean | undefined {
  try {
    const value: unknown = JSON.parse(token);
    return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
      ? value
      : undefined;
  } catch {
    return undefined;
  }
}

function placeOf(text: string, offset: number): { line: number; column: number } {
  const before = text.slice(0, offset).split('\n');
  return { line: before.length, column: before.at(-1)!.length + 1 };
}
