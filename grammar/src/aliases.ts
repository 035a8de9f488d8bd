import { parseAffineMap } from './affine-map.ts';
import { type Dictionary, parseDictionary, parseMaps, type Source } from './dictionary.ts';
import { ATTRIBUTE_NAME, type Scanner, TYPE_NAME } from './scanner.ts';
import type { Text } from './text.ts';
import { parseType, skipType } from './type.ts';
import type { TypeCache } from './type-cache.ts';
import type { AffineMap, Type } from './types.ts';

/** Longest chain of aliases, `#a = #b`, that is followed. */
const LONGEST_CHAIN = 32;

/**
 * The `#name = ...` and `!name = ...` of one chunk. A definition is three numbers until the first look-up, because large
 * files have many thousands of `#loc`s. Each value is read once.
 */
// ebnf: alias-definition
export class Aliases {
  readonly source: Source;
  private readonly scanner: Scanner;
  private readonly text: Text;
  private readonly unindexed: number[] = [];
  private readonly offsets = new Map<string, number>();
  private readonly typesByName = new Map<string, Type | null>();
  private readonly typeTexts = new Map<string, string | null>();
  private readonly affineMaps = new Map<string, AffineMap | null>();
  private readonly mapLists = new Map<string, readonly AffineMap[] | null>();
  /** Bytes of values that may still be read. Each unterminated value would take the rest of the text. */
  private budget: number;
  private readonly dictionaries = new Map<string, Dictionary | null>();

  constructor(scanner: Scanner, text: Text, types: TypeCache) {
    this.scanner = scanner;
    this.text = text;
    this.budget = 16 * scanner.end + 65_536;
    this.source = { scanner, text, aliases: this, types };
  }

  /** Notes an alias: its name, with the `#` or `!`, is in [start, end), and its value starts at `value`. */
  define(start: number, end: number, value: number): void {
    this.unindexed.push(start, end, value);
  }

  /** The type that `!name` stands for, or null. */
  type(name: string): Type | null {
    return this.value(name, this.typesByName, () => parseType(this.source));
  }

  /** The text of the type that `!name` stands for, or null. */
  typeText(name: string): string | null {
    return this.value(name, this.typeTexts, () => {
      const start = this.scanner.skipTrivia(this.scanner.pos);
      const end = skipType(this.scanner);
      return end < 0 ? null : this.text.slice(start, end);
    });
  }

  /** The affine map that `#name` stands for, or null. */
  map(name: string): AffineMap | null {
    return this.value(name, this.affineMaps, () => {
      this.scanner.next();
      return parseAffineMap(this.scanner);
    });
  }

  /** The array of affine maps that `#name` stands for, or null. */
  maps(name: string): readonly AffineMap[] | null {
    return this.value(name, this.mapLists, () => parseMaps(this.source));
  }

  /** The dictionary that `#name` stands for, or null. */
  dictionary(name: string): Dictionary | null {
    return this.value(name, this.dictionaries, () => {
      this.scanner.next();
      return parseDictionary(this.source);
    });
  }

  /** Runs `read` with the scanner at the value of `#name`, chains followed. Null for an unknown name. */
  read<T>(name: string, read: () => T | null): T | null {
    const offset = this.resolve(name);
    return offset === null ? null : this.at(offset, read);
  }

  private value<T>(name: string, memory: Map<string, T | null>, read: () => T | null): T | null {
    const known = memory.get(name);
    if (known !== undefined) return known;
    // An unknown name is not remembered: a definition may follow in the text.
    const offset = this.resolve(name);
    if (offset === null) return null;
    const value = this.at(offset, read);
    memory.set(name, value);
    return value;
  }

  /** Byte offset of the value of `name`, chains followed. */
  private resolve(name: string): number | null {
    this.index();
    let offset = this.offsets.get(name);
    for (let step = 0; offset !== undefined && step < LONGEST_CHAIN; step++) {
      const next: string | null = this.at(offset, () => {
        const kind = this.scanner.next();
        if (kind !== ATTRIBUTE_NAME && kind !== TYPE_NAME) return null;
        return this.text.slice(this.scanner.start, this.scanner.pos);
      });
      if (next === null || next.includes('.')) return offset;
      offset = this.offsets.get(next);
    }
    return null;
  }

  private index(): void {
    const { unindexed } = this;
    for (let index = 0; index < unindexed.length; index += 3) {
      const name = this.text.slice(unindexed[index]!, unindexed[index + 1]!);
      // A name with a dot is no alias, but an attribute or a type of a dialect.
      if (!name.includes('.')) this.offsets.set(name, unindexed[index + 2]!);
    }
    unindexed.length = 0;
  }

  private at<T>(offset: number, read: () => T | null): T | null {
    const { scanner } = this;
    if (this.budget < 0) return null;
    return scanner.lookAhead(() => {
      scanner.pos = offset;
      const value = read();
      this.budget -= Math.max(0, scanner.pos - offset);
      return value;
    });
  }
}
