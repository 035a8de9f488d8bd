/** The native search of a Buffer takes offsets below 2 GiB only: larger inputs are searched in windows. */
const WINDOW = 2 ** 30;

/** Offset of the first `byte` in [from, end), or `end` if there is none. The fastest native search is that of a `Buffer`. */
export function find(bytes: Uint8Array, byte: number, from: number, end: number): number {
  for (let at = from; at < end; at += WINDOW) {
    const found = bytes.subarray(at, Math.min(at + WINDOW, end)).indexOf(byte);
    if (found >= 0) return at + found;
  }
  return end;
}
