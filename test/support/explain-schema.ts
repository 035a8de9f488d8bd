// Validates the explain JSON in tests by its schema.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import Ajv from 'ajv';
import type { Explanation } from '../../src/report/explain.ts';
import { root } from './folders.ts';

export const EXPLAIN_SCHEMA = JSON.parse(readFileSync(join(root, 'docs', 'explain.schema.json'), 'utf8')) as {
  readonly definitions: { readonly code: { readonly enum: readonly string[] } };
};

const ajv = new Ajv({ allErrors: true, schemas: [{ ...EXPLAIN_SCHEMA, $id: 'explain' }] });

/**
 * Problems of a value, one per line; empty for a valid value.
 * @param kind `build` for the file of a build, `preview` for the output of `iree-tuned explain --json`
 */
export function problemsOf(value: unknown, kind: 'build' | 'preview'): string {
  void ajv.validate(`explain#/definitions/${kind}`, value);
  return ajv.errorsText(ajv.errors, { separator: '\n', dataVar: 'explain' }).replace(/^No errors$/, '');
}

/** @throws Error with the problems of an explanation that does not follow the schema */
export function readExplanation(text: string): Explanation {
  const explanation = JSON.parse(text) as Explanation;
  const problems = problemsOf(explanation, 'build');
  if (problems !== '') throw new Error(`${problems}\n${text}`);
  return explanation;
}
