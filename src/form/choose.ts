// Chooses forms for the operations of a program.
import { isAttention } from './attention.ts';
import { isConvolution, type Convolution } from './convolution.ts';
import type { Named, Neighbours } from './form.ts';
import { packedName, type Packings } from './packing.ts';
import { isQuantized } from './quantized.ts';
import { kindOf, rewritableKey, type Rewritable } from './rewritable.ts';
import { isBeforePadding } from './rows-by-filters.ts';
import { isSpread } from './spread-convolution.ts';
import { tensorText } from '../workload/tensor.ts';

/** The form for all equal operations. */
export interface FormChoice {
  readonly operation: Rewritable;
  /** Name of the form. */
  readonly form: string;
}

/**
 * The preferred form of each operation that has one. Attentions get a form only if all of them have one, because passes rewrite all of them.
 * @param packings of the target; null for a GPU, or for an unknown target
 */
export function chooseForms(
  operations: readonly Rewritable[],
  packings: Packings | null = null,
): FormChoice[] {
  const convolutions = operations.filter(isConvolution);
  const spread = operations.filter(isSpread);
  const images = new Set(
    [...convolutions, ...spread.map(({ convolution, image }) => ({ ...convolution, image }))].flatMap(
      ({ image, result }) => [image, result].map(tensorText),
    ),
  );
  const neighbours: Neighbours = {
    place: operations.some(isQuantized) ? 'quantized' : isChain(convolutions) ? 'chain' : 'alone',
    isImage: (value) => images.has(tensorText(value)),
    isPadded: (convolution) => isBeforePadding(convolution, convolutions),
    isForCpu: packings !== null,
  };
  const choices = operations.flatMap((operation) => {
    const [form] = formsOf(operation, neighbours).flatMap((one) => nameOf(one, packings) ?? []);
    return form === undefined ? [] : [{ operation, form }];
  });
  const areWhole = operations.filter(isAttention).every((one) => formsOf(one, neighbours).length > 0);
  return areWhole ? choices : choices.filter(({ operation }) => !isAttention(operation));
}

const formsOf = (one: Rewritable, neighbours: Neighbours) => kindOf(one).formsOf(one, neighbours);

/**
 * Whether the channels of all images become innermost. Grouped convolutions keep theirs first, so most values would be transposed twice if
 * depthwise ones lie between them, as in a ShuffleNet.
 */
function isChain(convolutions: readonly Convolution[]): boolean {
  const has = (kind: RegExp) => convolutions.filter(({ name }) => kind.test(name)).length;
  const isGrouped = has(/\.depthwise_/) > 0 && has(/_ngchw_/) > has(/\.conv_2d_n(?!g)/);
  return convolutions.length > 1 && !isGrouped;
}

/** The name of a form for a target; undefined if it needs tiles that the target does not have. */
function nameOf({ name, tiles }: Named, packings: Packings | null): string | undefined {
  const packing = tiles === undefined ? null : (packings?.[tiles.of] ?? null);
  if (packing !== null) return packedName(name, packing);
  return tiles?.areNeeded === true ? undefined : name;
}

/** Names of forms by the keys of operations. */
export type FormNames = ReadonlyMap<string, string>;

export const namesOf = (choices: readonly FormChoice[]): FormNames =>
  new Map(choices.map(({ operation, form }) => [rewritableKey(operation), form]));

/** Where an operation has all of its forms. */
const ANYWHERE: Neighbours = {
  place: 'quantized',
  isImage: () => true,
  isPadded: () => true,
  isForCpu: true,
};

/** The choices for operations whose named form exists. Tiles are those of the target, because with others the compiler's results are wrong. */
export const choicesOf = (
  operations: readonly Rewritable[],
  names: FormNames,
  packings: Packings | null,
): FormChoice[] =>
  operations.flatMap((operation) => {
    const form = names.get(rewritableKey(operation));
    const isKnown = formsOf(operation, ANYWHERE).some((own) =>
      [own.tiles?.areNeeded === true ? undefined : own.name, nameOf(own, packings)].includes(form),
    );
    return form !== undefined && isKnown ? [{ operation, form }] : [];
  });
