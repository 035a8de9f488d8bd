// Short texts for the page and its script: numbers, names of workloads, and untrusted texts of databases. Pure.
import { groupOf } from '../loss.ts';
import { printable } from '../text.ts';

/** A number with few digits, which keeps the page's data small. */
export const short = (value: number): number => Number(value.toPrecision(4));

/** A gain: `1.42×`, `58.1×`, `400×`. */
export const gainText = (ratio: number): string => `${ratio.toFixed(ratio < 10 ? 2 : ratio < 100 ? 1 : 0)}×`;

/** A text of at most `longest` characters, with invisible characters by name. It cannot reorder the text around it. */
export function plain(text: string, longest = 2000): string {
  const shown = printable(text);
  return shown.length <= longest ? shown : `${shown.slice(0, longest - 1).toWellFormed()}…`;
}

/** A text as HTML, between tags and in attributes in quotes. */
export const escapeHtml = (text: string): string =>
  text.replaceAll(/[&<>"']/g, (one) => `&#${one.charCodeAt(0)};`);

/** Sizes by letter, `?` for a dynamic one: `m=512 n=?(1,16)` gives [['m', '512'], ['n', '?']]. */
const sizesOf = (key: string): (readonly [letter: string, size: string])[] =>
  [...key.matchAll(/(?:^|\s)([bmnk]\d*)=(\?\([\d,]*\)|\d+)/g)].map(
    ([, letter, size]) => [letter!, size!.startsWith('?') ? '?' : size!] as const,
  );

/** Element types, such as `f32` or `i8→i32`; empty where the key has none. */
export function typesOf(key: string): string {
  const [, lhs, rhs, result] = /\s(\w+),(\w+)->(\w+)(?:\s|$)/.exec(key) ?? [];
  if (lhs === undefined) return '';
  if (lhs === rhs && rhs === result) return lhs;
  return lhs === rhs ? `${lhs}→${result!}` : `${lhs},${rhs!}→${result!}`;
}

/** `997×997×997`, in the order of the key: batch, rows, columns, sum; `512×512×512 f16→f32`, `8·64×64×64` with a batch. */
export function shapeOf(key: string): string {
  const sizes = sizesOf(key);
  if (sizes.length === 0) return key.length <= 40 ? key : `${key.slice(0, 39)}…`;
  const batch = sizes.filter(([letter]) => letter.startsWith('b')).map(([, size]) => `${size}·`);
  const rest = sizes.filter(([letter]) => !letter.startsWith('b')).map(([, size]) => size);
  const types = typesOf(key);
  const notes = [...(types === 'f32' || types === '' ? [] : [types])];
  if (key.includes(' in=')) notes.push('in place');
  return [`${batch.join('')}${rest.join('×')}`, ...notes].join(' ');
}

/** The kind of a shape, which mostly decides how good the compiler's default is; for a whole dispatch the kind of its work. */
export function classOf(key: string): string {
  const [, dispatch] = /^dispatch (\S+)/.exec(key) ?? [];
  if (dispatch !== undefined) return groupOf(dispatch);
  const sizes = sizesOf(key);
  if (sizes.some(([, size]) => size === '?')) return 'dynamic sizes';
  const product = (kind: string) =>
    sizes.filter(([letter]) => letter.startsWith(kind)).reduce((all, [, size]) => all * Number(size), 1);
  const [m, n] = [product('m'), product('n')];
  if (m === 1 || n === 1) return 'matrix × vector';
  if (m <= 16 || n <= 16) return 'thin: 16 or fewer rows or columns';
  return sizes.every(([letter, size]) => letter.startsWith('b') || Number(size) % 16 === 0)
    ? 'all sizes multiples of 16'
    : 'other sizes';
}
