// The models of the zoo, and the choice of models for a run.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { seededRandom } from '../../src/search/strategy.ts';
import { UsageError } from '../shared/arguments.ts';

export interface Model {
  /** Name in the table and on the command line. `light:` begins the name of a model in the `onnx` package. */
  readonly name: string;
  /** Billions of multiply-adds, about; 0 for the user's own files. Smaller models run first. */
  readonly size: number;
  /** `light:NAME`, `torch:NAME`, `int8:torch:NAME`, `bf16:torch:NAME`, `wheel:PACKAGE==VERSION:PATH`, or the path of an .onnx file: see `export.py`. */
  readonly source: string;
  /** Sizes of dynamic dimensions. */
  readonly dimensions: Readonly<Record<string, number>>;
}

/** A model in the wheel of a package on PyPI. */
export interface PackagedModel extends Model {
  /** The program that exported the model. */
  readonly exporter: string;
}

interface Listed extends Readonly<
  Record<'core' | 'rest' | 'light', Readonly<Record<string, number>>> &
    Record<'int8' | 'halves', readonly string[]>
> {
  /** Names of models with local response normalisation. */
  readonly withLrn: readonly string[];
  /** Each run has six of them. */
  readonly packaged: readonly PackagedModel[];
}

const LISTED = JSON.parse(readFileSync(join(import.meta.dirname, 'models.json'), 'utf8')) as Listed;

const groupOf = (sizes: Readonly<Record<string, number>>, kind: '' | 'torch:'): Model[] =>
  Object.entries(sizes).map(([name, size]) => ({ name, size, source: `${kind}${name}`, dimensions: {} }));

const CORE = groupOf(LISTED.core, 'torch:');
const REST = groupOf(LISTED.rest, 'torch:');
/** Their names are their sources. */
const LIGHT = groupOf(LISTED.light, '');
const NETWORKS = [...CORE, ...REST];

/** Quantized by ONNX Runtime, for IREE in TOSA or by PyTorch, and in floats of 16 bits. */
const KINDS = ['int8', 'int8-channels', 'int8-operators', 'int8-dynamic', 'tosa', 'pt2e', 'f16', 'bf16'];

/** A network in another type: `int8:resnet50`. Null for other names. */
function inKind(name: string): Model | null {
  const [kind, original] = name.split(':') as [string, string?];
  const network = KINDS.includes(kind) ? NETWORKS.find((one) => one.name === original) : undefined;
  return network === undefined ? null : { ...network, name, source: `${kind}:${network.source}` };
}

export const isLight = (name: string): boolean => name.startsWith('light:');

/** ONNX Runtime is slow there (microsoft/onnxruntime#26293). */
export const hasLrn = (name: string): boolean => LISTED.withLrn.includes(name);

/** Whether the source, or the name on the command line, is a file of the user. */
export const isFile = (source: string): boolean =>
  source.endsWith('.onnx') && !/^(?:light|torch|wheel|int8[\w-]*|tosa|pt2e|b?f16):/.test(source);

/** Exporters that each draw includes: names of their graphs are not plain identifiers. */
const ALWAYS = ['Paddle', 'PyTorch 1'];
const DRAWN = 6;

/** Draws models from wheels: one of each exporter of `ALWAYS` for the core, and others for the rest. */
export function drawPackaged(seed: number): Readonly<Record<'core' | 'rest', readonly PackagedModel[]>> {
  const random = seededRandom(seed);
  const order = LISTED.packaged
    .map((model) => ({ model, key: random() }))
    .toSorted((a, b) => a.key - b.key)
    .map(({ model }) => model);
  const core = ALWAYS.map((always) => order.find(({ exporter }) => exporter === always)!);
  return { core, rest: order.filter((one) => !core.includes(one)).slice(0, DRAWN - core.length) };
}

/**
 * The models of a command line, smallest first.
 * @param asked names of models and groups, and paths of .onnx files; empty for the core
 * @param seed of the draw of models from wheels
 * @param sizes of dynamic dimensions in the files
 * @throws UsageError for an unknown name
 */
export function modelsFor(
  asked: readonly string[],
  seed: number,
  sizes: Readonly<Record<string, number>> = {},
): Model[] {
  const drawn = drawPackaged(seed);
  const groups = new Map([
    ['core', [...CORE, ...drawn.core]],
    ['rest', [...REST, ...drawn.rest]],
    ['light', LIGHT],
    ['int8', LISTED.int8.flatMap((name) => inKind(name) ?? [])],
    ['halves', LISTED.halves.flatMap((name) => inKind(name) ?? [])],
  ]);
  const all = [...NETWORKS, ...LIGHT, ...LISTED.packaged];
  const found = new Map<string, Model>();
  for (const name of asked.length === 0 ? ['core'] : asked) {
    const models = isFile(name)
      ? [{ name, size: 0, source: name, dimensions: sizes }]
      : (groups.get(name) ?? [inKind(name) ?? all.filter((model) => model.name === name)].flat());
    for (const model of models) found.set(model.name, model);
    if (models.length > 0) continue;
    const known = [...groups.keys(), ...all.map((model) => model.name)];
    throw new UsageError(
      `${name}: there is no such model; give an .onnx file, ${known.join(', ')}, or a network behind ${KINDS.map((kind) => `${kind}:`).join(', ')}`,
    );
  }
  return [...found.values()].toSorted((a, b) => a.size - b.size);
}
