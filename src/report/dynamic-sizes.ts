// Texts about the sizes that a program's dynamic dimensions can be given. Pure.
import { spellingsOf } from '../input/call-sizes.ts';
import { dynamicFunctions, type DynamicFunction } from '../input/sizes-at-calls.ts';
import { sizeName, type WantedSizes } from '../settings/wanted-sizes.ts';
import { KIND_ORDER } from '../workload/sizes.ts';
import { didYouMean } from './unknown-settings.ts';

/** A size that `--iree-tuned-dim` can give. */
export interface SettableSize {
  readonly function: string;
  /** A symbol of the program, or the place of the dimension. */
  readonly name: string;
  /** The dimensions of arguments with this size, such as `arg0.1`. */
  readonly places: readonly string[];
  /** The smallest and the largest size that the program allows; null if it does not say. */
  readonly least: number | null;
  readonly largest: number | null;
}

export const settableSizes = (program: readonly DynamicFunction[]): SettableSize[] =>
  program.flatMap(({ name, dimensions }) =>
    dimensions.sizes.map((size) => {
      const [least = null, largest = null] = size.range ?? [];
      return {
        ...{ function: name, name: size.name, places: size.places },
        ...{ least, largest: largest === Infinity ? null : largest },
      };
    }),
  );

/** A line for each function, and an example. */
export function settableLines(sizes: readonly SettableSize[]): string[] {
  const functions = Map.groupBy(sizes, (size) => size.function);
  const lines = [...functions].map(([name, own]) => `  ${name}: ${own.map(describe).join(', ')}`);
  return ['Sizes that can be set:', ...lines, `  for example ${exampleFlag(sizes)}`];
}

/** Why a program without tunable operations lacks sizes. @param text the program */
export function missingSizes(text: Uint8Array, wanted: WantedSizes): string {
  const program = dynamicFunctions(text, wanted);
  const sizes = settableSizes(program);
  const flag = sizes.length === 0 ? '--iree-tuned-dim=m=1,16,128' : exampleFlag(sizes);
  return unknownIn(program, wanted) ?? `its dimensions are dynamic and need sizes, such as ${flag}`;
}

/** A flag that gives each size. */
function exampleFlag(sizes: readonly SettableSize[]): string {
  const functions = new Set(sizes.map((size) => size.function));
  const example = new Map(
    sizes.map((size) => {
      // The same dimension of several arguments is mostly one size.
      const [, dimension] = /^arg\d+(\.\d+)$/.exec(size.name) ?? [];
      const isOfOne = dimension !== undefined && functions.size > 1;
      const name = dimension === undefined ? size.name : `arg*${dimension}`;
      return [isOfOne ? `${size.function}.${name}` : name, exampleOf(size)];
    }),
  );
  const text = [...example].map(([name, values]) => `${name}=${values.join(',')}`).join(' ');
  return `--iree-tuned-dim="${text}"`;
}

function describe({ name, places, least, largest }: SettableSize): string {
  const where = places.filter((place) => place !== name);
  const range = largest !== null ? `${least ?? 0} to ${largest}` : least === null ? '' : `at least ${least}`;
  const notes = [where.join(' '), range].filter((note) => note !== '');
  return notes.length === 0 ? name : `${name} (${notes.join('; ')})`;
}

/** A small and a usual size within the range. */
function exampleOf({ least, largest }: SettableSize): number[] {
  const small = Math.max(1, least ?? 1);
  return [...new Set([small, Math.max(small, Math.min(128, largest ?? 128))])];
}

/** A message about given names that a program does not have; null without any. @param text the program */
export const unknownSizes = (text: Uint8Array, wanted: WantedSizes): string | null =>
  wanted.length === 0 ? null : unknownIn(dynamicFunctions(text, wanted), wanted);

function unknownIn(program: readonly DynamicFunction[], wanted: WantedSizes): string | null {
  if (program.length === 0) return null;
  const known = program.flatMap(({ name, dimensions }) =>
    dimensions.sizes.flatMap(spellingsOf).flatMap((own) => [sizeName(own), `${name}.${own}`]),
  );
  const unknown = wanted
    .flat()
    .find(({ name }) => !known.includes(name) && !(KIND_ORDER as readonly string[]).includes(name));
  if (unknown === undefined) return null;
  const names = new Set(program.flatMap(({ dimensions }) => dimensions.sizes.map(({ name }) => name)));
  return `--iree-tuned-dim: the program has no size ${unknown.name}${didYouMean(unknown.name, known)}; it has ${[...names].join(', ')}`;
}
