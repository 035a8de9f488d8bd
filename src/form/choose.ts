// The forms of a program's operations.
import { isAttention } from './attention.ts';
import { formsOf } from './forms.ts';
import { rewritableKey, type Rewritable } from './rewritable.ts';

/** One form for all operations that do the same. */
export interface FormChoice {
  readonly operation: Rewritable;
  /** Name of the form. */
  readonly form: string;
}

/** The preferred form of each operation that has one; of attentions, only where all have it: passes take them all. */
export function chooseForms(operations: readonly Rewritable[]): FormChoice[] {
  const choices = operations.flatMap((operation) => {
    const [preferred] = formsOf(operation);
    return preferred === undefined ? [] : [{ operation, form: preferred.name }];
  });
  const isWhole = operations.filter(isAttention).every((one) => formsOf(one).length > 0);
  return isWhole ? choices : choices.filter(({ operation }) => !isAttention(operation));
}

/** Names of forms by the keys of operations. */
export type FormNames = ReadonlyMap<string, string>;

export const namesOf = (choices: readonly FormChoice[]): FormNames =>
  new Map(choices.map(({ operation, form }) => [rewritableKey(operation), form]));

/** The operations that have such a form, in it. */
export const choicesOf = (operations: readonly Rewritable[], names: FormNames): FormChoice[] =>
  operations.flatMap((operation) => {
    const form = names.get(rewritableKey(operation));
    const isForm = formsOf(operation).some(({ name }) => name === form);
    return form === undefined || !isForm ? [] : [{ operation, form }];
  });
