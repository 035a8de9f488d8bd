/** In bytes. The native search of a Buffer takes only offsets below 2 GiB, so larger inputs are searched in windows. */
const WINDOW = 2 ** 30;

/** Offset of the first `byte` in [from, end), or `end` without one. The native search of a `Buffer` is the fastest. */
export function find(bytes: Uint8Array, byte: number, from: number, end: number): number {
  for (let at = from; at < end; at += WINDOW) {
    const found = bytes.subarray(at, Math.min(at + WINDOW, end)).indexOf(byte);
    if (found >= 0) return at + found;
  }
  return end;
}
