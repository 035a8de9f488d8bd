// A program whose convolutions and products lie between steps that quantize and dequantize, as exporters write quantized networks (QDQ).
// The compiler computes it in integers only after it has fused other operations into the convolutions, which are then no named operations.
import type { Named } from './form.ts';

/** All quantized operations of a program together. */
export interface Quantized {
  readonly name: typeof NAME;
}

const NAME = 'iree_linalg_ext.quantize_affine';

/** Key of the operation. A program has it once. */
export const QUANTIZED_KEY = NAME;

/** Element-wise operations leave the convolutions, steps move through pads, and what is between steps is computed in integers. */
export const inIntegers: Named & { readonly passes: readonly string[] } = {
  name: 'in-integers',
  passes: [
    'iree-global-opt-propagate-affine-quantization',
    'canonicalize',
    'iree-global-opt-detach-elementwise-from-named-ops',
    'iree-global-opt-propagate-affine-quantization',
    'iree-global-opt-convert-qdq-to-integer-math',
    'canonicalize',
    'cse',
  ],
};

/** Whether a text of the compiler quantizes values. */
export const readQuantized = (text: Uint8Array): Quantized | null =>
  Buffer.from(text.buffer, text.byteOffset, text.byteLength).includes(NAME) ? { name: NAME } : null;

/** Whether a value, for example from a file, is the operation. */
export const isQuantized = (value: unknown): value is Quantized =>
  (value as Partial<Quantized> | null | undefined)?.name === NAME;
