// Random parameters for a program, in safetensors files.
import { open } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Parameter } from '../input/parameters.ts';
import { sumOf } from '../measure/statistics.ts';
import { seededRandom } from '../search/strategy.ts';
import { changedElements, moveOf, randomElements, tensorBytes } from './inputs.ts';

/** Names in the safetensors format, by element type. */
const SAFETENSORS: Readonly<Record<string, string>> = {
  ...{ f64: 'F64', f32: 'F32', f16: 'F16', bf16: 'BF16', f8E4M3FN: 'F8_E4M3', f8E5M2: 'F8_E5M2' },
  ...{ i64: 'I64', i32: 'I32', i16: 'I16', i8: 'I8', i1: 'BOOL' },
};

/** Weights are multiplied by 2 to the power of this. Small weights keep the results of many layers finite. */
const WEIGHT_EXPONENT = -5;

/** Whether a safetensors file can hold this type. */
export const isWritable = ({ elementType }: Parameter): boolean => SAFETENSORS[elementType] !== undefined;

/** Bytes of all parameters. */
export const parameterBytes = (parameters: readonly Parameter[]): number =>
  sumOf(parameters.map(tensorBytes));

/**
 * Writes random parameters into `folder`, one file for each scope: see `writeInputs`.
 * @returns the runtime's flags that name the files
 * @throws when a file cannot be written
 */
export async function writeParameters(parameters: readonly Parameter[], folder: string): Promise<string[]> {
  const random = seededRandom(parameters.length);
  const scopes = Map.groupBy(parameters, ({ scope }) => scope);
  const flags: string[] = [];
  for (const [i, [scope, own]] of [...scopes].entries()) {
    const path = join(folder, `parameters${i}.safetensors`);
    const file = await open(path, 'w');
    try {
      await file.writeFile(headerOf(own));
      for (const one of own) await file.writeFile(randomElements(one, random, WEIGHT_EXPONENT));
    } finally {
      await file.close();
    }
    flags.push(`--parameters=${scope === null ? '' : `${scope}=`}${path}`);
  }
  return flags;
}

/**
 * Writes copies of the files of `writeParameters` whose floats are moved in their last bits. Other flags stay.
 * @throws when a file cannot be read or written
 */
export async function movedParameters(
  flags: readonly string[],
  folder: string,
  seed: number,
): Promise<string[]> {
  const random = seededRandom(seed);
  const types = new Map(Object.entries(SAFETENSORS).map(([type, dtype]) => [dtype, type]));
  const moved: string[] = [];
  for (const flag of flags) {
    const [, scope = '', path] = /^--parameters=(.*=)?(.*\.safetensors)$/.exec(flag) ?? [];
    if (path === undefined) {
      moved.push(flag);
      continue;
    }
    const own = join(folder, `moved-${basename(path)}`);
    await using from = await open(path);
    await using to = await open(own, 'w');
    const read = async (at: number, length: number) =>
      (await from.read(Buffer.alloc(length), 0, length, at)).buffer;
    const headerBytes = 8 + Number((await read(0, 8)).readBigUInt64LE());
    const header = await read(0, headerBytes);
    await to.writeFile(header);
    const entries = JSON.parse(header.subarray(8).toString()) as Record<string, Entry>;
    for (const {
      dtype,
      data_offsets: [begin, end],
    } of Object.values(entries)) {
      const bytes = await read(headerBytes + begin, end - begin);
      const elementType = types.get(dtype)!;
      await to.writeFile(changedElements(bytes, elementType, () => moveOf(elementType, random)) ?? bytes);
    }
    moved.push(`--parameters=${scope}${own}`);
  }
  return moved;
}

/** An entry of the header of a safetensors file. */
interface Entry {
  readonly dtype: string;
  readonly shape: readonly number[];
  readonly data_offsets: readonly [begin: number, end: number];
}

/** Header of a safetensors file: 8 bytes for the length of the JSON, then JSON with the offsets of each parameter behind the header. */
function headerOf(parameters: readonly Parameter[]): Buffer {
  let offset = 0;
  const entries = parameters.map((one) => {
    const begin = offset;
    offset += tensorBytes(one);
    const { key, shape, elementType } = one;
    return [key, { dtype: SAFETENSORS[elementType], shape, data_offsets: [begin, offset] }] as const;
  });
  const text = JSON.stringify(Object.fromEntries(entries));
  // Pad so that the data are aligned.
  const json = Buffer.from(text.padEnd(Math.ceil(text.length / 64) * 64 - 8 + 64));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(json.length));
  return Buffer.concat([length, json]);
}
