// The comment `// iree-tuned: disable` in the first lines of an input turns tuning off for it.

/** Only so many bytes are searched, so a model of gigabytes costs nothing. */
const LOOKED_AT_BYTES = 4096;

/** Whether one of the first lines is exactly this comment. */
export function isDisabledByComment(bytes: Uint8Array): boolean {
  const head = Buffer.from(bytes.subarray(0, LOOKED_AT_BYTES)).toString('latin1');
  // The last line may be cut off, so it does not count.
  const lines = bytes.length > LOOKED_AT_BYTES ? head.slice(0, head.lastIndexOf('\n') + 1) : head;
  return /^[ \t]*\/\/[ \t]*iree-tuned:[ \t]*disable[ \t]*\r?$/m.test(lines);
}
