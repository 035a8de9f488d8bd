// Rules of a transform-dialect module: which operations get which attribute.
import { matcherOf, matchKey, type MatchedForm } from '../workload/workload.ts';

/** An attribute for the operations of one form. */
export interface Annotation {
  readonly form: MatchedForm;
  readonly attribute: string;
  /** The attribute's value, as text. */
  readonly value: string;
}

/** A matcher's text for a given name, and the attribute that it gives. */
export interface Rule {
  readonly attribute: string;
  matcher(name: string): string;
}

/** One rule for each form: the first annotation of it. */
export function rulesOf(annotations: readonly Annotation[]): Rule[] {
  const byForm = new Map<string, Rule>();
  for (const { form, attribute, value } of annotations) {
    const key = matchKey(form);
    if (!byForm.has(key)) byForm.set(key, { attribute, matcher: (name) => matcherOf(form, name, value) });
  }
  return [...byForm.values()];
}

/** The sequences of rules as text, and the pairs of matcher and action for a `foreach_match` over them. */
export function annotating(rules: readonly Rule[]): { readonly sequences: string; readonly pairs: string } {
  const attributes = [...new Set(rules.map(({ attribute }) => attribute))];
  const actions = attributes.map(
    (
      attribute,
      i,
    ) => `  transform.named_sequence @annotate_${i}(%op: !transform.any_op {transform.readonly}, %value: !transform.any_param {transform.readonly}) {
    transform.annotate %op "${attribute}" = %value : !transform.any_op, !transform.any_param
    transform.yield
  }`,
  );
  const matchers = rules.map((rule, i) => rule.matcher(`match_${i}`));
  const pairs = rules.map(
    ({ attribute }, i) => `      @match_${i} -> @annotate_${attributes.indexOf(attribute)}`,
  );
  return { sequences: [...actions, ...matchers].join('\n'), pairs: pairs.join(',\n') };
}
