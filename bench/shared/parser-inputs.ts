// Texts for the parser's benchmark: long texts, large texts, and adversarial small ones.
import { closeSync, openSync, writeSync } from 'node:fs';
import { moduleText, parseShape } from './shape.ts';

/**
 * Repeats a text until it has `least` characters, with new symbol names in each copy. Aliases and resources are per file, so they occur
 * once.
 */
export function repeated(text: string, least: number): string {
  const resourcesAt = text.search(/^\{-#/m);
  const resources = resourcesAt < 0 ? '' : text.slice(resourcesAt);
  const lines = (resourcesAt < 0 ? text : text.slice(0, resourcesAt)).split('\n');
  const isAlias = (line: string): boolean => /^[#!][\w$-]+ *=/.test(line);
  const body = lines.filter((line) => !isAlias(line)).join('\n');
  const copies = [lines.filter(isAlias).join('\n')];
  for (let length = 0, index = 0; length < least; index++) {
    const copy = renamed(body, index);
    length += copy.length + 1;
    copies.push(copy);
  }
  return [...copies, resources].join('\n');
}

function renamed(text: string, index: number): string {
  return text.replaceAll(/@?"(?:[^"\\\n]|\\.)*"|@[\w$.]+/g, (name) => {
    if (name.startsWith('"')) return name;
    return name.endsWith('"') ? `${name.slice(0, -1)}_${index}"` : `${name}_${index}`;
  });
}

const MATMUL = moduleText(parseShape('512x512x512'));
const BEFORE_BLOB = '{-# dialect_resources: { builtin: { blob: "0x08000000';
const AFTER_BLOB = '" } } #-}\n';

/** Writes a file with a matmul and a resource of about `bytes` bytes. */
export function writeBlob(file: string, bytes: number): void {
  const part = Buffer.alloc(16 * 2 ** 20, '0123456789ABCDEF');
  const descriptor = openSync(file, 'w');
  writeSync(descriptor, MATMUL + BEFORE_BLOB);
  for (let left = bytes; left > 0; left -= part.length)
    writeSync(descriptor, part, 0, Math.min(left, part.length));
  writeSync(descriptor, AFTER_BLOB);
  closeSync(descriptor);
}

/** A matmul, a resource of `bytes` bytes, and a matmul on the second line after it. */
export function hugeInput(bytes: number): Buffer {
  const before = Buffer.from(MATMUL + BEFORE_BLOB);
  const after = Buffer.from(AFTER_BLOB + MATMUL.replace('@main', '@other'));
  const input = Buffer.allocUnsafeSlow(before.length + bytes + after.length);
  input.set(before);
  input.fill(0x41, before.length, before.length + bytes);
  input.set(after, before.length + bytes);
  return input;
}

/** Offsets of the two matmuls of {@link hugeInput}. */
export function hugeStarts(bytes: number): [number, number] {
  const offset = MATMUL.indexOf('linalg.matmul');
  const head = MATMUL.length + BEFORE_BLOB.length + bytes + AFTER_BLOB.length;
  return [offset, head + offset + '@other'.length - '@main'.length];
}

/** Texts that are hard for a parser with backtracking or recursion; about `bytes` bytes each. */
export function worstTexts(bytes: number): readonly (readonly [string, string])[] {
  const times = (unit: string): string => unit.repeat(Math.ceil(bytes / unit.length));
  const half = Math.ceil(bytes / 2);
  return [
    ['{ only', times('{')],
    ['{ and }', '{'.repeat(half) + '}'.repeat(half)],
    ['( only', times('(')],
    ['< only', `!a = tuple<${times('<')}`],
    ['one open string', `"${times('a')}`],
    ['open strings, a line each', times(`"${'a'.repeat(70)}\n`)],
    ['open strings with escapes', times(`"${'\\a'.repeat(40)}\n`)],
    ['one string with escapes', `"${times('\\\\')}"`],
    ['operations that do not end', times('linalg.matmul {')],
    ['generics that do not end', times('linalg.generic {a = [')],
    ['quoted operations that do not end', times('"linalg.generic"() ({')],
    ['operands without types', times('linalg.matmul ins(%a, ')],
    ['aliases of aliases', times('#a = [#a, #a]\n')],
    ['slashes', times('/')],
    ['zero bytes', times('\0')],
  ];
}
