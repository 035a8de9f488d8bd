import type { Operation } from 'mlir-parser-ts';

/** The attribute with which a user or an earlier tool has already decided; null when there is none. */
export function ownConfiguration(operation: Operation): string | null {
  const names = ['compilation_info', 'lowering_config', 'iree.opt.data_tiling'];
  return operation.attributes.find(({ name }) => names.includes(name))?.name ?? null;
}
