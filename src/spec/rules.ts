// Rules of a transform-dialect module: matchers with actions.
import { matcherOf, matchKey, type MatchedForm } from '../workload/workload.ts';

export interface Annotation {
  readonly form: MatchedForm;
  readonly attribute: string;
  /** The attribute's value, as text. */
  readonly value: string;
}

/** A matcher, and the action on the matched operations. */
export interface Rule {
  readonly action: Action;
  /** Text of a sequence of this name. Its results are the arguments of the action. */
  matcher(name: string): string;
}

/** Rules with equal keys share one action. */
export interface Action {
  readonly key: string;
  text(name: string): string;
}

/** The action that gives an operation an attribute. The matcher supplies the value. */
export const annotate = (attribute: string): Action => ({
  key: attribute,
  text: (
    name,
  ) => `  transform.named_sequence @${name}(%op: !transform.any_op {transform.readonly}, %value: !transform.any_param {transform.readonly}) {
    transform.annotate %op "${attribute}" = %value : !transform.any_op, !transform.any_param
    transform.yield
  }`,
});

/** The rules of annotations: the first annotation for each form. */
export function rulesOf(annotations: readonly Annotation[]): Rule[] {
  const byForm = new Map<string, Rule>();
  for (const { form, attribute, value } of annotations) {
    const key = matchKey(form);
    if (!byForm.has(key))
      byForm.set(key, { action: annotate(attribute), matcher: (name) => matcherOf(form, name, value) });
  }
  return [...byForm.values()];
}

/** Text of the sequences of rules, and of their pairs of matcher and action for a `foreach_match`. */
export function annotating(rules: readonly Rule[]): { readonly sequences: string; readonly pairs: string } {
  const actions = [...new Map(rules.map(({ action }) => [action.key, action])).values()];
  const texts = actions.map((action, i) => action.text(`annotate_${i}`));
  const matchers = rules.map((rule, i) => rule.matcher(`match_${i}`));
  const keys = actions.map(({ key }) => key);
  const pairs = rules.map(({ action }, i) => `      @match_${i} -> @annotate_${keys.indexOf(action.key)}`);
  return { sequences: [...texts, ...matchers].join('\n'), pairs: pairs.join(',\n') };
}
