// Chooses forms for the operations of a program.
import { isAttention } from './attention.ts';
import { isBroadcast, type Broadcast } from './broadcast.ts';
import { isConcat, type Concat } from './concat.ts';
import { isConvolution, type Convolution } from './convolution.ts';
import { formsOf, type Surrounding } from './forms.ts';
import { rewritableKey, type Rewritable } from './rewritable.ts';
import type { Named } from './form.ts';
import { packedName, type Packings } from './packing.ts';
import { isQuantized } from './quantized.ts';
import { isRounding } from './rounding.ts';
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
  const surrounding = operations.some(isQuantized) ? 'quantized' : isChain(convolutions) ? 'chain' : 'alone';
  // Only measured on CPUs.
  const surroundingOf = (one: Rewritable): Surrounding =>
    surrounding === 'chain' && packings !== null && isConvolution(one) && isBeforePadding(one, convolutions)
      ? 'padding'
      : surrounding;
  const spread = operations.filter(isSpread);
  const shapes = new Set(
    [...convolutions, ...spread.map(({ convolution, image }) => ({ ...convolution, image }))].flatMap(
      ({ image, result }) => [image, result].map(tensorText),
    ),
  );
  /** Operations on other values, such as joins of the two directions of an LSTM, gain nothing. */
  const isOfImages = ({ operands, result }: Concat | Broadcast) =>
    [result, ...operands].some((one) => shapes.has(tensorText(one)));
  const choices = operations.flatMap((operation) => {
    const isBetween = isConcat(operation) || isBroadcast(operation);
    // Processors of other backends have an operation for rounding.
    const isSlow = !isRounding(operation) || packings !== null;
    const isLeft = !isSlow || (isBetween && !isOfImages(operation));
    const [form] = isLeft
      ? []
      : formsOf(operation, surroundingOf(operation)).flatMap((one) => nameOf(one, packings) ?? []);
    return form === undefined ? [] : [{ operation, form }];
  });
  const isWhole = operations.filter(isAttention).every((one) => formsOf(one, surrounding).length > 0);
  return isWhole ? choices : choices.filter(({ operation }) => !isAttention(operation));
}

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

/** The choices for operations whose named form exists. Tiles are those of the target, because with others the compiler's results are wrong. */
export const choicesOf = (
  operations: readonly Rewritable[],
  names: FormNames,
  packings: Packings | null,
): FormChoice[] =>
  operations.flatMap((operation) => {
    const form = names.get(rewritableKey(operation));
    const isKnown = formsOf(operation, 'quantized').some((own) =>
      [own.tiles?.areNeeded === true ? undefined : own.name, nameOf(own, packings)].includes(form),
    );
    return form !== undefined && isKnown ? [{ operation, form }] : [];
  });
