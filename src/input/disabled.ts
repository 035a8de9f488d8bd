// `// iree-tuned: disable` near the beginning of an input: the author wants it compiled as it is.

/** As far as is looked, so that a model of gigabytes costs nothing. */
const LOOKED_AT_BYTES = 4096;

/** Whether one of the first lines is that comment and nothing else. */
export function isDisabledByComment(bytes: Uint8Array): boolean {
  const head = Buffer.from(bytes.subarray(0, LOOKED_AT_BYTES)).toString('latin1');
  // A line that is cut off may go on to say something else.
  const lines = bytes.length > LOOKED_AT_BYTES ? head.slice(0, head.lastIndexOf('\n') + 1) : head;
  return /^[ \t]*\/\/[ \t]*iree-tuned:[ \t]*disable[ \t]*\r?$/m.test(lines);
}
