// Files in NumPy's format, for tests.

/** Bytes of an array. @param type such as `<i4` */
export function npy(type: string, shape: readonly number[], data: ArrayBufferView): Buffer {
  const sizes = shape.map((size) => `${size},`).join(' ');
  const header = `{'descr': '${type}', 'fortran_order': False, 'shape': (${sizes}), }`;
  const padded = `${header.padEnd(64 * Math.ceil((header.length + 11) / 64) - 11)}\n`;
  const head = Buffer.from('\x93NUMPY\x01\x00\x00\x00', 'latin1');
  head.writeUInt16LE(padded.length, 8);
  return Buffer.concat([head, Buffer.from(padded), new Uint8Array(data.buffer)]);
}
