// A program whose convolutions and products lie between steps that quantize and dequantize, as exporters write quantized networks (QDQ).
// The compiler computes it in integers only after it has fused other operations into the convolutions, which are then no named operations.
import type { Named } from './form.ts';

/** All quantized operations of a program together. */
export interface Quantized {
  readonly name: typeof NAME;
  /** Whether it has convolutions, whose batches of one image are no unit dimensions to drop. */
  readonly hasConvolutions: boolean;
}

const NAME = 'iree_linalg_ext.quantize_affine';

/** Equal for equal operations. */
export const quantizedKey = ({ hasConvolutions }: Quantized): string =>
  hasConvolutions ? `${NAME} around convolutions` : NAME;

export const IN_INTEGERS: Named = { name: 'in-integers' };

/**
 * Function passes in order, as the transform dialect writes them. They move element-wise operations and pads away from between the steps, and
 * compute the rest in integers. The steps that are left become element-wise operations, which let transposes pass.
 */
export const integerPasses = ({ hasConvolutions }: Quantized): readonly string[] => [
  ...[
    'iree-global-opt-propagate-affine-quantization',
    'canonicalize',
    'iree-global-opt-detach-elementwise-from-named-ops',
    // Products whose rows are a batch of one have a reshape before each step otherwise.
    ...(hasConvolutions
      ? []
      : [
          'iree-global-opt-convert-batch-matmul-to-matmul',
          'iree-dispatch-creation-fold-unit-extent-dims-for-func',
        ]),
    'iree-global-opt-propagate-affine-quantization',
    'iree-global-opt-convert-qdq-to-integer-math',
    'canonicalize',
  ].map((pass) => `"${pass}"`),
  '"iree-linalg-ext-decompose-aggregated-ops" with options = { "filter-ops" = ["iree_linalg_ext.quantize_affine", "iree_linalg_ext.dequantize_affine"] }',
  '"canonicalize"',
  '"cse"',
];

const CONVOLUTION = /= linalg\.(?:depthwise_)?conv_/;

/** The quantized operations in a text of the compiler; null for a program without steps. */
export function readQuantized(text: Uint8Array): Quantized | null {
  const bytes = Buffer.from(text.buffer, text.byteOffset, text.byteLength);
  return bytes.includes(NAME)
    ? { name: NAME, hasConvolutions: CONVOLUTION.test(bytes.toString('latin1')) }
    : null;
}

/** Whether a value, for example from a file, is such operations. */
export function isQuantized(value: unknown): value is Quantized {
  const { name, hasConvolutions } = (value ?? {}) as Partial<Record<keyof Quantized, unknown>>;
  return name === NAME && typeof hasConvolutions === 'boolean';
}
