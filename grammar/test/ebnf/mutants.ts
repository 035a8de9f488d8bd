import type { Expression, Grammar } from './notation.ts';

/** A grammar with one mistake. */
export interface Mutant {
  readonly name: string;
  /** The production with the mistake. */
  readonly production: string;
  readonly grammar: Grammar;
}

const EMPTY: Expression = { kind: 'sequence', parts: [] };

/**
 * Grammars with one mistake each. A production is empty, or lacks an alternative, an option, a repetition or a token; or
 * an option is required, or a repetition stands at most once.
 */
export function mutantsOf(grammar: Grammar): Mutant[] {
  return [...grammar].flatMap(([production, rule]) =>
    [['nothing', EMPTY] as const, ...variants(rule.body)].map(([mistake, body]) => ({
      name: `${production}: ${mistake}`,
      production,
      grammar: new Map([...grammar, [production, { ...rule, body }]]),
    })),
  );
}

function* variants(expression: Expression): Generator<readonly [string, Expression]> {
  switch (expression.kind) {
    case 'sequence':
    case 'choice':
      for (const [index, part] of expression.parts.entries()) {
        const replaced = (...parts: readonly Expression[]): Expression => ({
          ...expression,
          parts: expression.parts.toSpliced(index, 1, ...parts),
        });
        const isRemovable = expression.kind === 'choice' || !('parts' in part);
        if (isRemovable) yield [`no ${written(part)}`, replaced()];
        for (const [mistake, variant] of variants(part)) yield [mistake, replaced(variant)];
      }
      break;
    case 'optional':
      yield [`always ${written(expression.part)}`, expression.part];
      for (const [mistake, part] of variants(expression.part)) yield [mistake, { ...expression, part }];
      break;
    case 'repeat':
      yield [`at most one ${written(expression.part)}`, { ...expression, kind: 'optional' }];
      for (const [mistake, part] of variants(expression.part)) yield [mistake, { ...expression, part }];
      break;
    case 'times':
      yield [`once ${written(expression.part)}`, expression.part];
      break;
    case 'terminal':
    case 'name':
    case 'words':
  }
}

function written(expression: Expression): string {
  if ('text' in expression) return expression.text;
  if ('part' in expression) return `[${written(expression.part)}]`;
  return `(${expression.parts.map(written).join(expression.kind === 'choice' ? ' | ' : ' , ')})`;
}
