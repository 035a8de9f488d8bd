// The JSON schema of the explain JSON. Every explanation that a test reads is validated.
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
 * Problems of a value, one a line; empty for a valid value.
 * @param kind what a build writes, or what `iree-tuned explain --json` prints
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
