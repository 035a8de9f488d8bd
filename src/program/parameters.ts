// Random parameters for a program, in IREE's parameter archives. Parameters share bytes where all together would take too much of the disk:
// the format allows it.
import { existsSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { isEncodable } from '../measure/elements.ts';
import { tensorBytes } from '../input/runtime-type.ts';
import type { Parameter } from '../input/parameters.ts';
import { sumOf } from '../measure/statistics.ts';
import { seededRandom } from '../search/strategy.ts';
import { writeSlices } from '../system/bytes.ts';
import { shortHash } from '../system/hash.ts';
import {
  changed,
  inTurn,
  isChangeable,
  moveOf,
  PERIOD,
  randomElements,
  repeated,
} from './random-elements.ts';

/** Weights are multiplied by 2 to the power of this. Small weights keep the results of many layers finite. */
const WEIGHT_EXPONENT = -5;

/** Whether parameters of this type can be generated. */
export const isWritable = ({ elementType }: Parameter): boolean => isEncodable(elementType);

/** Bytes of all parameters. */
export const parameterBytes = (parameters: readonly Parameter[]): number =>
  sumOf(parameters.map(tensorBytes));

/** Generated parameters. */
export interface WrittenParameters {
  /** The runtime's flags that name the files. */
  readonly flags: readonly string[];
  /** Writes other files whose floats are moved in their last bits. @returns their flags */
  readonly moved: (folder: string, seed: number) => string[];
}

/**
 * Writes random parameters into `folder`, one file for each scope: see `writeInputs`. Files that are there already stay.
 * @throws when a file cannot be written
 */
export function writeParameters(parameters: readonly Parameter[], folder: string): WrittenParameters {
  return {
    flags: writeArchives(parameters, folder, 'spread', (elements) => elements),
    moved(other, seed) {
      const random = seededRandom(seed);
      return writeArchives(parameters, other, 'compact', (elements, elementType) =>
        isChangeable(elementType) ? changed(elements, elementType, moveOf(elementType, random)) : elements,
      );
    },
  };
}

/** Bytes of the files of `writeParameters`, about. */
export const parameterFileBytes = (parameters: readonly Parameter[]): number =>
  sumOf(regionsOf(parameters).map((region) => region.bytes));

/** Alignment of a parameter in its file. */
const ALIGNMENT = 64;

const aligned = (bytes: number) => ALIGNMENT * Math.ceil(bytes / ALIGNMENT);

/** A region repeats at this distance, which is a multiple of the alignment and of every element's size. */
const REPEAT = ALIGNMENT * PERIOD;

/** Bytes of all regions, unless a single parameter takes more: the processor's caches have no room for them. */
const MOST_BYTES = 2 ** 30;

/** Part of a file with the parameters of one type. */
interface Region {
  readonly scope: string | null;
  readonly elementType: string;
  readonly bytes: number;
  readonly parameters: readonly { readonly parameter: Parameter; readonly begin: number }[];
}

/**
 * The regions of all files. A parameter begins where the last one ends, as far as there is room; so hardly two of them have the same elements.
 */
function regionsOf(parameters: readonly Parameter[]): Region[] {
  const share = Math.min(
    1,
    MOST_BYTES / Math.max(1, sumOf(parameters.map((one) => aligned(tensorBytes(one))))),
  );
  const groups = Map.groupBy(parameters, ({ scope, elementType }) => JSON.stringify([scope, elementType]));
  return [...groups.values()].map((own) => {
    const { scope, elementType } = own[0]!;
    const sizes = own.map((one) => aligned(tensorBytes(one)));
    const all = sumOf(sizes);
    const bytes =
      share === 1 ? all : Math.min(all, Math.max(aligned(share * all), Math.max(...sizes) + REPEAT));
    let end = 0;
    const placed = own.map((parameter, i) => {
      const begin = end % (bytes - sizes[i]! + ALIGNMENT);
      end += sizes[i]!;
      return { parameter, begin };
    });
    return { scope, elementType, bytes, parameters: placed };
  });
}

/** The same elements in the smallest region, where more parameters share bytes. */
function compact(region: Region): Region {
  const parameters = region.parameters.map((one) => ({ ...one, begin: one.begin % REPEAT }));
  const ends = parameters.map(({ parameter, begin }) => begin + aligned(tensorBytes(parameter)));
  return { ...region, parameters, bytes: Math.max(0, ...ends) };
}

/**
 * Writes a file for each scope.
 * @param layout `spread`: a program reads as many different bytes as possible, for the sake of times; `compact`: the files are small
 * @param change of the first elements of a region, which then repeat
 */
function writeArchives(
  parameters: readonly Parameter[],
  folder: string,
  layout: 'spread' | 'compact',
  change: (elements: Uint8Array, elementType: string) => Uint8Array,
): string[] {
  const random = seededRandom(parameters.length);
  const regions = regionsOf(parameters).map((region) => ({
    ...(layout === 'compact' ? compact(region) : region),
    period: change(randomElements(PERIOD, region.elementType, random, WEIGHT_EXPONENT), region.elementType),
  }));
  const files = Map.groupBy(regions, ({ scope }) => scope);
  return [...files].map(([scope, own]) => {
    const begins = own.map((_, i) => sumOf(own.slice(0, i).map(({ bytes }) => bytes)));
    const entries = own.flatMap((region, i) =>
      region.parameters.map(({ parameter, begin }): ArchiveEntry => ({
        key: parameter.key,
        begin: begins[i]! + begin,
        bytes: tensorBytes(parameter),
      })),
    );
    const head = archiveHead(entries, sumOf(own.map(({ bytes }) => bytes)));
    const path = join(folder, `${shortHash(JSON.stringify([scope, entries]))}.irpa`);
    if (!existsSync(path)) {
      const part = `${path}.part`;
      writeSlices(part, inTurn([head], ...own.map((one) => repeated(one.period, one.bytes))));
      renameSync(part, path);
    }
    // The runtime takes the text before the first sign as the scope.
    return `--parameters=${scope ?? ''}=${path}`;
  });
}

/** An entry of IREE's parameter archives (`.irpa`, version 0). Several may have the same bytes of the file. */
interface ArchiveEntry {
  readonly key: string;
  /** Place of its bytes behind the head. */
  readonly begin: number;
  readonly bytes: number;
}

/** Bytes of the header, of an entry, and of an entry with the padding behind it. */
const [HEADER, ENTRY, ENTRY_STEP] = [88, 76, 80];

/** Where the table of entries begins. */
const TABLE = 96;

/** The head ends at a page, so that the bytes behind it can be mapped. */
const PAGE = 4096;

/** Type of an entry with bytes in the file. */
const DATA = 2;

/** The head of an archive. @param bytes behind the head */
export function archiveHead(entries: readonly ArchiveEntry[], bytes: number): Uint8Array {
  const keys = entries.map(({ key }) => Buffer.from(key));
  const keyBytes = sumOf(keys.map(({ length }) => length));
  const tableBytes = ENTRY_STEP * entries.length;
  const keysBegin = TABLE + tableBytes;
  const length = PAGE * Math.ceil((keysBegin + keyBytes) / PAGE);
  const head = Buffer.alloc(length);
  const write = (at: number, ...numbers: readonly number[]) => {
    for (const [i, number] of numbers.entries()) head.writeBigUInt64LE(BigInt(number), at + 8 * i);
  };
  head.write('IRPA', 'latin1');
  // Two bytes each for the versions stay 0, and so do the next header and the flags.
  write(8, HEADER);
  write(32, entries.length, TABLE, tableBytes, keysBegin, keyBytes, length, bytes);
  let keyEnd = 0;
  for (const [i, one] of entries.entries()) {
    const at = TABLE + ENTRY_STEP * i;
    const key = keys[i]!;
    write(at, ENTRY);
    head.writeUInt32LE(DATA, at + 8);
    // Flags, key, no metadata, alignment, place.
    write(at + 12, 0, keyEnd, key.length, 0, 0, ALIGNMENT, one.begin, one.bytes);
    key.copy(head, keysBegin + keyEnd);
    keyEnd += key.length;
  }
  return head;
}
