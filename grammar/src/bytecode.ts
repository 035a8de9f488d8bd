const MAGIC = [0x4d, 0x4c, 0xef, 0x52];

/** Whether the input is MLIR bytecode, which starts with the bytes 4D 4C EF 52 whatever the file is called. */
export function isBytecode(input: Uint8Array): boolean {
  return MAGIC.every((byte, index) => input[index] === byte);
}
