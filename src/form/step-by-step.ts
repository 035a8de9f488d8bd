// Attention in steps: products of queries and keys, their softmax, and its product with the values. By default, the compiler's
// pipeline for a whole attention vectorises poorly, but each step gets good code.
import { scoreBytes } from './attention.ts';
import type { PassesForm } from './form.ts';

/** Most bytes of scores in memory. */
const MOST_BYTES = 2 ** 28;

export const stepByStep: PassesForm = {
  name: 'step-by-step',
  isFor: (attention) => scoreBytes(attention) <= MOST_BYTES,
  passes: ['iree-linalg-ext-convert-attention-to-online-attention', 'iree-linalg-ext-decompose-attention'],
};
