// Rules of a transform-dialect module: which operations get which attribute.
import { matcherOf, matchKey, type MatchedForm } from '../workload/workload.ts';

/** An attribute for the operations of one form. */
export interface Annotation {
  readonly form: MatchedForm;
  readonly attribute: string;
  /** The attribute's value, as text. */
  readonly value: string;
}

/** A matcher, and the action on the operations that it finds. */
export interface Rule {
  readonly action: Action;
  /** Text of a sequence of this name, whose results are the arguments of the action. */
  matcher(name: string): string;
}

/** Rules with equal keys share one action. */
export interface Action {
  readonly key: string;
  text(name: string): string;
}

/** Gives an operation an attribute, whose value the matcher brings along. */
export const annotate = (attribute: string): Action => ({
  key: attribute,
  text: (
    name,
  ) => `  transform.named_sequence @${name}(%op: !transform.any_op {transform.readonly}, %value: !transform.any_param {transform.readonly}) {
    transform.annotate %op "${attribute}" = %value : !transform.any_op, !transform.any_param
    transform.yield
  }`,
});

/** One rule for each form: the first annotation of it. */
export function rulesOf(annotations: readonly Annotation[]): Rule[] {
  const byForm = new Map<string, Rule>();
  for (const { form, attribute, value } of annotations) {
    const key = matchKey(form);
    if (!byForm.has(key))
      byForm.set(key, { action: annotate(attribute), matcher: (name) => matcherOf(form, name, value) });
  }
  return [...byForm.values()];
}

/** The sequences of rules as text, and the pairs of matcher and action for a `foreach_match` over them. */
export function annotating(rules: readonly Rule[]): { readonly sequences: string; readonly pairs: string } {
  const actions = [...new Map(rules.map(({ action }) => [action.key, action])).values()];
  const texts = actions.map((action, i) => action.text(`annotate_${i}`));
  const matchers = rules.map((rule, i) => rule.matcher(`match_${i}`));
  const keys = actions.map(({ key }) => key);
  const pairs = rules.map(({ action }, i) => `      @match_${i} -> @annotate_${keys.indexOf(action.key)}`);
  return { sequences: [...texts, ...matchers].join('\n'), pairs: pairs.join(',\n') };
}
