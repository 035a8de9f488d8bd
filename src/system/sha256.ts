// Names for contents that others must not be able to forge. Loads node:crypto, so nothing on the way of a hit calls it.

/** 64 hexadecimal digits, of the text in UTF-8. */
export function sha256(text: string): string {
  const { createHash } = process.getBuiltinModule('node:crypto');
  return createHash('sha256').update(text).digest('hex');
}
