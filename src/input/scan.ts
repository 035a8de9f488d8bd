// Facts about an input that the parser does not tell: a comment that turns tuning off, and operations that become whole dispatches.
import { bufferOf } from '../system/bytes.ts';

/** Only so many bytes are searched, so a model of gigabytes costs nothing. */
const LOOKED_AT_BYTES = 4096;

/** Whether one of the first lines is exactly the comment `// iree-tuned: disable`. */
export function isDisabledByComment(bytes: Uint8Array): boolean {
  const head = Buffer.from(bytes.subarray(0, LOOKED_AT_BYTES)).toString('latin1');
  // The last line may be cut off, so it does not count.
  const lines = bytes.length > LOOKED_AT_BYTES ? head.slice(0, head.lastIndexOf('\n') + 1) : head;
  return /^[ \t]*\/\/[ \t]*iree-tuned:[ \t]*disable[ \t]*\r?$/m.test(lines);
}

/** Operations in linalg text that become whole dispatches. */
const IN_LINALG = ['linalg.softmax', 'linalg.reduce', 'iree_linalg_ext.'];

/** Such operations in other dialects: for each common prefix, the starts of the names. */
const TO_NORMALISE: Readonly<Record<string, readonly string[]>> = {
  'torch.aten.': [
    ...['softmax', '_softmax', 'log_softmax', '_log_softmax', 'scaled_dot_product_attention'],
    ...['layer_norm', 'native_layer_norm', 'group_norm', 'batch_norm'],
    ...['max_pool', 'avg_pool', 'adaptive_avg_pool'],
    ...['sum', 'mean', 'var', 'amax', 'amin', 'cumsum', 'sort', 'topk'],
  ],
  '"onnx.': [
    ...['Softmax', 'LogSoftmax', 'LayerNormalization', 'InstanceNormalization', 'GroupNormalization'],
    ...['MaxPool', 'AveragePool', 'GlobalAveragePool', 'Reduce', 'TopK', 'Attention'],
  ],
  'stablehlo.': ['reduce'],
  'tosa.': ['max_pool2d', 'avg_pool2d', 'reduce_'],
};

export function hasDispatchesInLinalg(bytes: Uint8Array): boolean {
  const text = bufferOf(bytes);
  return IN_LINALG.some((name) => text.includes(name));
}

export function hasDispatchesToNormalise(bytes: Uint8Array): boolean {
  const text = bufferOf(bytes);
  return Object.entries(TO_NORMALISE).some(
    ([dialect, names]) => text.includes(dialect) && names.some((name) => text.includes(dialect + name)),
  );
}
