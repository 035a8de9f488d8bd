import type { Operation } from 'mlir-parser-ts';

/** Name of the attribute by which a user or another tool configured the operation; null without one. */
export function ownConfiguration(operation: Operation): string | null {
  const names = ['compilation_info', 'lowering_config', 'iree.opt.data_tiling'];
  return operation.attributes.find(({ name }) => names.includes(name))?.name ?? null;
}
