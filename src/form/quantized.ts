// A program of quantized operations. Exporters of ONNX write convolutions and products of floats between steps that quantize and dequantize (QDQ). The
// compiler computes these in integers only after it has fused other operations into the convolutions, which are then no named operations. TFLite's
// models, as TOSA, become operations on integers with zero points, for which the compiler has scalar code only.
import { bufferOf } from '../system/bytes.ts';
import type { Named, RewritableKind } from './form.ts';

/** All quantized operations of a program together. */
export interface Quantized {
  readonly name: typeof STEPS | typeof WITH_ZERO_POINTS;
  /** Whether it has convolutions, whose batches of one image are no unit dimensions to drop. */
  readonly hasConvolutions: boolean;
  /** Whether operations between steps have zero points, as ONNX's QLinearConv. */
  readonly hasZeroPoints?: true;
}

const STEPS = 'iree_linalg_ext.quantize_affine';
/** `linalg.conv_2d_nhwc_hwcf_q`, `linalg.quantized_matmul` and the like. */
const WITH_ZERO_POINTS = 'linalg operations with zero points';

/** Equal for equal operations. */
const quantizedKey = ({ name, hasConvolutions, hasZeroPoints }: Quantized): string =>
  `${name}${name === STEPS && hasConvolutions ? ' around convolutions' : ''}${hasZeroPoints === true ? ' and zero points' : ''}`;

export const IN_INTEGERS: Named = { name: 'in-integers' };

/** Function passes in order, as the transform dialect writes them. */
const integerPasses = (quantized: Quantized): readonly string[] =>
  quantized.name === STEPS
    ? [...passesOfSteps(quantized), ...(quantized.hasZeroPoints ? PASSES_OF_ZERO_POINTS : [])]
    : PASSES_OF_ZERO_POINTS;

/** They take the zero points out of convolutions and products, as sums of rows and columns. */
const PASSES_OF_ZERO_POINTS = [
  '"iree-global-opt-quantized-conv-to-conv"',
  '"iree-global-opt-quantized-matmul-to-matmul"',
  '"canonicalize"',
  '"cse"',
];

/**
 * They move element-wise operations and pads away from between the steps, and compute the rest in integers. The steps that are left become
 * element-wise operations, which let transposes pass.
 */
const passesOfSteps = ({ hasConvolutions }: Quantized): readonly string[] => [
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
  // The operations between two steps become one.
  '"iree-dispatch-creation-elementwise-op-fusion"',
  '"canonicalize"',
  '"cse"',
];

/** The quantized operations in a text of the compiler; null for a program without any. */
export function readQuantized(text: Uint8Array): Quantized | null {
  const bytes = bufferOf(text);
  const has = (...names: readonly string[]) => names.some((name) => bytes.includes(name));
  const hasZeroPoints = has('linalg.quantized_', '_q {', '_q ins(');
  const name = has(STEPS) ? STEPS : hasZeroPoints ? WITH_ZERO_POINTS : null;
  const hasConvolutions = has('linalg.conv_', 'linalg.depthwise_conv_');
  return name && { name, hasConvolutions, ...(name === STEPS && hasZeroPoints && { hasZeroPoints }) };
}

/** Whether a value, for example from a file, is such operations. */
export function isQuantized(value: unknown): value is Quantized {
  const { name, hasConvolutions, hasZeroPoints } = (value ?? {}) as Partial<Record<keyof Quantized, unknown>>;
  return (
    (name === STEPS || name === WITH_ZERO_POINTS) &&
    typeof hasConvolutions === 'boolean' &&
    (hasZeroPoints === undefined || (hasZeroPoints === true && name === STEPS))
  );
}

export const quantizedPrograms: RewritableKind<Quantized> = {
  is: isQuantized,
  key: quantizedKey,
  formsOf: () => [IN_INTEGERS],
  passesBefore: integerPasses,
};
