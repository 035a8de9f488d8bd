// The forms of a program's convolutions.
import { convolutionKey, type Convolution } from './convolution.ts';
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

/** Names of forms by the keys of convolutions. */
export type FormNames = ReadonlyMap<string, string>;

export const namesOf = (choices: readonly FormChoice[]): FormNames =>
  new Map(choices.map(({ convolution, form }) => [convolutionKey(convolution), form]));

/** The convolutions that have such a form, in it. */
export const choicesOf = (convolutions: readonly Convolution[], names: FormNames): FormChoice[] =>
  convolutions.flatMap((convolution) => {
    const form = names.get(convolutionKey(convolution));
    const isForm = formsOf(convolution).some(({ name }) => name === form);
    return form === undefined || !isForm ? [] : [{ convolution, form }];
  });
