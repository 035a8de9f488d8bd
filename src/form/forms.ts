// All forms, in order of preference.
import { isAttention } from './attention.ts';
import type { PassesForm, WrittenForm } from './form.ts';
import { blocksOfFilters } from './blocks-of-filters.ts';
import { channelsLast } from './channels-last.ts';
import { groupByGroup } from './group-by-group.ts';
import { inTwoDimensions } from './in-two-dimensions.ts';
import { matmul } from './matmul.ts';
import { pixelsFirst } from './pixels-first.ts';
import type { Rewritable } from './rewritable.ts';
import { shiftedSlices, shiftedSlicesChannelsLast } from './shifted-slices.ts';
import { stepByStep } from './step-by-step.ts';

const OF_CONVOLUTIONS: readonly WrittenForm[] = [
  pixelsFirst,
  matmul,
  shiftedSlices,
  shiftedSlicesChannelsLast,
  blocksOfFilters,
  channelsLast,
  groupByGroup,
];

const OF_ATTENTIONS: readonly PassesForm[] = [stepByStep];

export const writtenFormNamed = (name: string): WrittenForm | null =>
  OF_CONVOLUTIONS.find((form) => form.name === name) ?? null;

export const passesFormNamed = (name: string): PassesForm | null =>
  OF_ATTENTIONS.find((form) => form.name === name) ?? null;

/** The other forms of an operation, the preferred form first. */
export const formsOf = (one: Rewritable): readonly (WrittenForm | PassesForm)[] =>
  isAttention(one)
    ? OF_ATTENTIONS.filter((form) => form.isFor(one))
    : OF_CONVOLUTIONS.filter((form) => form.isFor(inTwoDimensions(one)));
