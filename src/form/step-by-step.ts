// Attention as its steps: products of queries and keys, the softmax of them, and its product with the values. The compiler has a
// pipeline for the whole that makes vectors of hardly anything by default, and good code for each of the steps.
import { scoreBytes } from './attention.ts';
import type { PassesForm } from './form.ts';

/** More memory than that is worse than what is saved. */
const MOST_BYTES = 2 ** 28;

export const stepByStep: PassesForm = {
  name: 'step-by-step',
  isFor: (attention) => scoreBytes(attention) <= MOST_BYTES,
  passes: ['iree-linalg-ext-convert-attention-to-online-attention', 'iree-linalg-ext-decompose-attention'],
};
