// Finds operations that the parser ignores and that become whole dispatches.

/** Such operations in linalg text. */
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

const textOf = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

export function hasDispatchesInLinalg(bytes: Uint8Array): boolean {
  const text = textOf(bytes);
  return IN_LINALG.some((name) => text.includes(name));
}

export function hasDispatchesToNormalise(bytes: Uint8Array): boolean {
  const text = textOf(bytes);
  return Object.entries(TO_NORMALISE).some(
    ([dialect, names]) => text.includes(dialect) && names.some((name) => text.includes(dialect + name)),
  );
}
