// Variants of an executable: its code for each target of the program.
import { bufferOf } from '../system/bytes.ts';
import type { Entry } from './plan.ts';

/** An executable with one of its variants. */
export interface Variant {
  /** Name of the target's backend; null if unknown. */
  readonly backend: string | null;
  readonly text: Uint8Array;
}

/** A printed variant. */
const VARIANT = /^( *)hal\.executable\.variant [^]*?^\1\}(?: loc\([^\n]*\))?$/gm;
const BACKEND = /^[^\n]* target\(<"([^"\n]+)"/;

export const isFor = ({ target }: Pick<Entry, 'target'>, { backend }: Variant): boolean =>
  target === undefined || target === backend;

/** An executable's variants, each in the executable without its other variants. */
export function variantsOf(executable: Uint8Array): Variant[] {
  const text = latin1(executable);
  const found = [...text.matchAll(VARIANT)];
  const backends = found.map(([own]) => BACKEND.exec(own)?.[1] ?? null);
  if (found.length < 2) return [{ backend: backends[0] ?? null, text: executable }];
  const [head, tail] = outside(text);
  return found.map(([own], i) => ({ backend: backends[i]!, text: Buffer.from(head + own + tail, 'latin1') }));
}

/**
 * Edits each variant of an executable, alone.
 * @param edit returns null to keep a variant
 * @returns null if no variant changes
 */
export function editVariants(
  executable: Uint8Array,
  edit: (variant: Variant) => Uint8Array | null,
): Uint8Array | null {
  const variants = variantsOf(executable);
  const edited = variants.map(edit);
  if (edited.every((one) => one === null)) return null;
  if (variants.length === 1) return edited[0]!;
  const text = latin1(executable);
  const [head, tail] = outside(text);
  let next = 0;
  return Buffer.from(
    text.replaceAll(VARIANT, (own) => {
      const one = edited[next++] ?? null;
      return one === null ? own : latin1(one).slice(head.length, one.length - tail.length);
    }),
    'latin1',
  );
}

/** The text before the first variant and after the last variant. */
function outside(text: string): [head: string, tail: string] {
  const found = [...text.matchAll(VARIANT)];
  const last = found.at(-1)!;
  return [text.slice(0, found[0]!.index), text.slice(last.index + last[0].length)];
}

const latin1 = (bytes: Uint8Array): string => bufferOf(bytes).toString('latin1');
