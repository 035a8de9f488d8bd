// Programs for planted faults: the kinds of results that a comparison has to judge.
import { Builder, type Plant, type Value } from './builder.ts';

/** Writes a program, with a fault or without. */
type Program = (b: Builder) => void;

/** Two layers with a product inside, whose weights are arguments. */
const mlp =
  (type: string): Program =>
  (b) => {
    const x = b.argument(type, 64, 256);
    const [w1, w2] = [b.argument(type, 256, 192), b.argument(type, 192, 128)];
    const bias = b.argument(type, 192);
    const hidden = b.relu(b.alongLast('add', b.dot(x, w1, type, true), bias));
    b.results(b.dot(hidden, w2));
  };

/** Products with sums in f32, rounded to a narrow type in between. */
const narrow =
  (type: string): Program =>
  (b) => {
    let value = b.argument(type, 48, 320);
    const sizes = [320, 256, 256, 200];
    for (let i = 0; i < 3; i++) {
      const product = b.dot(value, b.weights(type, sizes[i]!, sizes[i + 1]!), 'f32', i === 1);
      value = b.convert(b.map('tanh', product), type);
    }
    b.results(value);
  };

/** Logits over many words. */
const head =
  (type: string): Program =>
  (b) => {
    const hidden = b.argument(type, 4, 32);
    const logits = b.dot(hidden, b.weights(type, 32, 32_000), type, true);
    // Sums of thousands of probabilities need f32.
    b.results(b.convert(b.softmax(b.convert(logits, 'f32')), type));
  };

const attention = (b: Builder, q: Value, k: Value, v: Value, mask: Value | null): Value => {
  const transposed = b.add(
    `stablehlo.transpose ${k.name}, dims = [0, 2, 1] : (tensor<${k.shape.join('x')}x${k.type}>) -> tensor<${k.shape[0]}x${k.shape[2]}x${k.shape[1]}x${k.type}>`,
    [k.shape[0]!, k.shape[2]!, k.shape[1]!],
    k.type,
  );
  const scores = b.dot(q, transposed, q.type, true);
  const masked = mask === null ? scores : b.map('add', scores, mask);
  return b.dot(b.softmax(masked), v);
};

/** Scores with a mask for the upper triangle, and the attention over them. */
const masked =
  (value: string): Program =>
  (b) => {
    const [q, k, v] = [1, 2, 3].map(() => b.argument('f32', 4, 64, 32)) as [Value, Value, Value];
    const shape = [4, 64, 64];
    const index = (dim: number) => b.add(`stablehlo.iota dim = ${dim} : tensor<4x64x64xi32>`, shape, 'i32');
    const above = b.add(
      `stablehlo.compare GT, ${index(2).name}, ${index(1).name} : (tensor<4x64x64xi32>, tensor<4x64x64xi32>) -> tensor<4x64x64xi1>`,
      shape,
      'i1',
    );
    const [low, zero] = [b.constant('f32', shape, value), b.constant('f32', shape, '0.0')];
    const mask = b.add(
      `stablehlo.select ${above.name}, ${low.name}, ${zero.name} : tensor<4x64x64xi1>, tensor<4x64x64xf32>`,
      shape,
      'f32',
    );
    b.results(b.map('add', attention(b, q, k, v, mask), v), mask);
  };

/** The masked scores themselves. */
const maskedScores =
  (value: string): Program =>
  (b) => {
    const [q, k] = [b.argument('f32', 48, 64), b.argument('f32', 64, 80)];
    const scores = b.dot(q, k, 'f32', true);
    const column = b.add('stablehlo.iota dim = 1 : tensor<48x80xi32>', [48, 80], 'i32');
    const limit = b.splat(20, column);
    const above = b.add(
      `stablehlo.compare LT, ${column.name}, ${limit.name} : (tensor<48x80xi32>, tensor<48x80xi32>) -> tensor<48x80xi1>`,
      [48, 80],
      'i1',
    );
    const low = b.constant('f32', [48, 80], value);
    b.results(
      b.add(
        `stablehlo.select ${above.name}, ${low.name}, ${scores.name} : tensor<48x80xi1>, tensor<48x80xf32>`,
        [48, 80],
        'f32',
      ),
    );
  };

/** A residual and its normalisation. */
const residual =
  (type: string): Program =>
  (b) => {
    const x = b.argument(type, 32, 384);
    const inner = b.map('tanh', b.dot(x, b.weights(type, 384, 512), type, true));
    const block = b.dot(inner, b.weights(type, 512, 384));
    b.results(b.alongLast('multiply', b.layerNorm(b.map('add', x, block)), b.weights(type, 384)));
  };

/** A convolution of 3x3 over `NxHxWxC`, and one of 1x1. */
const convolutions = (b: Builder, image: Value, channels: number, isInside: boolean): Value => {
  const [n, h, w, c] = image.shape as [number, number, number, number];
  const filter = b.weights('f32', 3, 3, c, channels);
  const shape = [n, h, w, channels];
  const first = b.add(
    `stablehlo.convolution(${image.name}, ${filter.name}) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<${image.shape.join('x')}xf32>, tensor<3x3x${c}x${channels}xf32>) -> tensor<${shape.join('x')}xf32>`,
    shape,
    'f32',
  );
  const rows = b.reshape(b.relu(first), n * h * w, channels);
  return b.reshape(b.dot(rows, b.weights('f32', channels, channels), 'f32', isInside), ...shape);
};

/** Mean over the pixels of an image: `NxHxWxC` to `NxC`. */
const pooled = (b: Builder, image: Value): Value => {
  const [n, h, w, c] = image.shape as [number, number, number, number];
  const zero = b.constant('f32', [], '0.0');
  const sum = b.add(
    `stablehlo.reduce(${image.name} init: ${zero.name}) applies stablehlo.add across dimensions = [1, 2] : (tensor<${image.shape.join('x')}xf32>, tensor<f32>) -> tensor<${n}x${c}xf32>`,
    [n, c],
    'f32',
  );
  return b.map('multiply', sum, b.splat(1 / (h * w), sum));
};

const classifier: Program = (b) => {
  const features = convolutions(b, b.argument('f32', 4, 16, 16, 8), 32, false);
  const hidden = b.relu(b.dot(pooled(b, b.relu(features)), b.weights('f32', 32, 96), 'f32', true));
  b.results(b.softmax(b.dot(hidden, b.weights('f32', 96, 1000))));
};

/** Boxes in pixels, scores between 0 and 1, the best class of each box, and features. */
const detector: Program = (b) => {
  const features = convolutions(b, b.argument('f32', 1, 20, 20, 8), 24, true);
  const rows = b.reshape(features, 400, 24);
  const boxes = b.dot(rows, b.weights('f32', 24, 4));
  const scores = b.map('logistic', b.dot(rows, b.weights('f32', 24, 80)));
  const best = b.reduced('maximum', scores);
  const isBest = b.add(
    `stablehlo.compare GE, ${scores.name}, ${best.name} : (tensor<400x80xf32>, tensor<400x80xf32>) -> tensor<400x80xi1>`,
    [400, 80],
    'i1',
  );
  const pixels = b.map('multiply', boxes, b.splat(640, boxes));
  const all = b.add(
    `stablehlo.concatenate ${pixels.name}, ${scores.name}, dim = 1 : (tensor<400x4xf32>, tensor<400x80xf32>) -> tensor<400x84xf32>`,
    [400, 84],
    'f32',
  );
  b.results(all, b.convert(isBest, 'i32'), features);
};

/** Layers that requantize, as quantizers of ONNX models write them. */
const quantized: Program = (b) => {
  let value = b.quantized(b.argument('f32', 40, 256), 1 / 64);
  const sizes = [256, 256, 192, 192, 100];
  for (let i = 0; i + 1 < sizes.length; i++) {
    const sums = b.dot(value, b.weights('i8', sizes[i]!, sizes[i + 1]!), 'i32', i === 2);
    const wide = b.map(
      'multiply',
      b.convert(sums, 'f32'),
      b.splat(0.000_71 + 0.000_03 * i, { ...sums, type: 'f32' }),
    );
    const active = i < 3 ? b.relu(wide) : wide;
    value = b.quantized(active, 0.0371);
  }
  b.results(b.dequantized(value, 0.0371));
};

/** Token ids, embeddings inside the program, attention and a classifier. */
const encoder: Program = (b) => {
  const ids = b.argument('i32', 32);
  const table = b.weights('f32', 2, 128);
  const embedded = b.add(
    `"stablehlo.gather"(${table.name}, ${ids.name}) {dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 128>} : (tensor<2x128xf32>, tensor<32xi32>) -> tensor<32x128xf32>`,
    [32, 128],
    'f32',
  );
  const x = b.map('add', embedded, b.weights('f32', 32, 128));
  const heads = () => b.reshape(b.dot(x, b.weights('f32', 128, 128)), 1, 32, 128);
  const mixed = b.reshape(attention(b, heads(), heads(), heads(), null), 32, 128);
  b.results(b.layerNorm(b.map('add', x, mixed)));
};

/** Rounds to bf16 inside, and returns f32. */
const mixed: Program = (b) => {
  const x = b.argument('f32', 64, 256);
  const inner = b.dot(b.convert(x, 'bf16'), b.weights('bf16', 256, 256), 'f32', true);
  b.results(b.dot(b.map('tanh', inner), b.weights('f32', 256, 96)));
};

export const PROGRAMS: Readonly<Record<string, Program>> = {
  'f32 layers': mlp('f32'),
  'f16 layers': narrow('f16'),
  'bf16 layers': narrow('bf16'),
  'f16 layers, weights as arguments': mlp('f16'),
  'bf16 inside, f32 results': mixed,
  'i8 with requantization': quantized,
  'softmax over 32,000, f32': head('f32'),
  'softmax over 32,000, f16': head('f16'),
  'softmax over 32,000, bf16': head('bf16'),
  'attention, mask of -1e9': masked('-1.0e9'),
  'attention, mask of the least f32': masked('-3.4028234663852886e38'),
  'scores, mask of -1e9': maskedScores('-1.0e9'),
  'scores, mask of the least f32': maskedScores('-3.4028234663852886e38'),
  'residual and normalisation, f32': residual('f32'),
  'residual and normalisation, f16': residual('f16'),
  classifier,
  detector,
  'encoder of token ids': encoder,
};

/** The text of a program. */
export function programText(name: string, plant: Plant | null): string {
  const builder = new Builder(plant);
  PROGRAMS[name]!(builder);
  return builder.text;
}
