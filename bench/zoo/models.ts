// The models of the zoo, and the choice of models for a run.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { seededRandom } from '../../src/search/strategy.ts';
import { UsageError } from '../shared/arguments.ts';

export interface Model {
  /** Name in the table and on the command line. `light:` begins the name of a model of `bench:onnx`. */
  readonly name: string;
  /** Billions of multiply-adds, about. Smaller models run first. */
  readonly size: number;
}

/** A model in the wheel of a package on PyPI. */
export interface PackagedModel extends Model {
  /** The program that exported the model. */
  readonly exporter: string;
  /** `NAME==VERSION`. */
  readonly wheel: string;
  /** Path of the .onnx file in the wheel. */
  readonly path: string;
  /** Sizes of dynamic dimensions. */
  readonly dimensions: Readonly<Record<string, number>>;
}

interface Listed extends Readonly<Record<'core' | 'rest' | 'light', Readonly<Record<string, number>>>> {
  /** Names of models with local response normalisation. */
  readonly withLrn: readonly string[];
  /** Each run has six of them. */
  readonly packaged: readonly PackagedModel[];
}

const LISTED = JSON.parse(readFileSync(join(import.meta.dirname, 'models.json'), 'utf8')) as Listed;

const [CORE, REST, LIGHT] = (['core', 'rest', 'light'] as const).map((group): Model[] =>
  Object.entries(LISTED[group]).map(([name, size]) => ({ name, size })),
) as [Model[], Model[], Model[]];

/** ONNX Runtime is slow there. */
export const hasLrn = (name: string): boolean => LISTED.withLrn.includes(name);

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
 * @param asked names of models and groups; empty for the core
 * @param seed of the draw of models from wheels
 * @throws UsageError for an unknown name
 */
export function modelsFor(asked: readonly string[], seed: number): (Model | PackagedModel)[] {
  const drawn = drawPackaged(seed);
  const groups = new Map([
    ['core', [...CORE, ...drawn.core]],
    ['rest', [...REST, ...drawn.rest]],
    ['light', LIGHT],
  ]);
  const all = [...CORE, ...REST, ...LIGHT, ...LISTED.packaged];
  const found = (asked.length === 0 ? ['core'] : asked).flatMap((name) => {
    const models = groups.get(name) ?? all.filter((model) => model.name === name);
    if (models.length > 0) return models;
    const known = [...groups.keys(), ...all.map((model) => model.name)];
    throw new UsageError(`${name}: there is no such model; give ${known.join(', ')}`);
  });
  return [...new Set(found)].toSorted((a, b) => a.size - b.size);
}
