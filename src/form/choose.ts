// The forms that a program's convolutions are tried in.
import type { Convolution } from './convolution.ts';
import { formsOf } from './forms.ts';

/** One form for all operations that are the same convolution. */
export interface FormChoice {
  readonly convolution: Convolution;
  /** Name of the form. */
  readonly form: string;
}

/** The preferred form of each convolution that has one. */
export const chooseForms = (convolutions: readonly Convolution[]): FormChoice[] =>
  convolutions.flatMap((convolution) => {
    const [preferred] = formsOf(convolution);
    return preferred === undefined ? [] : [{ convolution, form: preferred.name }];
  });
