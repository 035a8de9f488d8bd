// All forms, and the one that a convolution is tried in first.
import type { Convolution } from './convolution.ts';
import { channelsLast } from './channels-last.ts';
import type { Form } from './form.ts';
import { groupByGroup } from './group-by-group.ts';
import { matmul } from './matmul.ts';
import { shiftedSlices, shiftedSlicesChannelsLast } from './shifted-slices.ts';

/** The first that is for a convolution is preferred. */
const FORMS: readonly Form[] = [matmul, shiftedSlices, shiftedSlicesChannelsLast, channelsLast, groupByGroup];

export const formNamed = (name: string): Form | null => FORMS.find((form) => form.name === name) ?? null;

/** The forms that a convolution can be written in, beside its own, the preferred one first. */
export const formsOf = (convolution: Convolution): readonly Form[] =>
  FORMS.filter((form) => form.isFor(convolution));
