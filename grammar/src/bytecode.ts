const MAGIC = [0x4d, 0x4c, 0xef, 0x52];

/** Whether the input is MLIR bytecode: its first bytes are 4D 4C EF 52. */
export function isBytecode(input: Uint8Array): boolean {
  return MAGIC.every((byte, index) => input[index] === byte);
}
