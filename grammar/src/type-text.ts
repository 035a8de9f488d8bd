import type { Type } from './types.ts';

/** A type as MLIR prints it, without blanks and comments. */
export function typeText(type: Type): string {
  if (type.kind === 'opaque') return type.text;
  const sizes = type.shape?.map((size) => (size < 0 ? '?' : String(size)));
  const encoding = type.encoding === null ? '' : `, ${type.encoding}`;
  if (type.kind === 'vtensor' || type.kind === 'torch-tensor') {
    const name = type.kind === 'vtensor' ? '!torch.vtensor' : '!torch.tensor';
    if (sizes === undefined && type.elementType === 'unk') return name;
    return `${name}<${sizes === undefined ? '*' : `[${sizes.join(',')}]`},${type.elementType}${encoding}>`;
  }
  const shape = sizes === undefined ? '*x' : sizes.map((size) => `${size}x`).join('');
  return `${type.kind}<${shape}${type.elementType}${encoding}>`;
}
