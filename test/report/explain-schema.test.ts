import { expect, test } from 'vitest';
import { REASONS } from '../../src/system/reason.ts';
import { EXPLAIN_SCHEMA, problemsOf } from '../support/explain-schema.ts';

const preview = {
  ...{ version: 2, route: 'none', reason: 'nothing is better', code: 'no-gain' },
  ...{ forms: null, time: null, loss: null, sizes: [], operations: [] },
};

test('the schema lists every code of a reason', () => {
  expect(EXPLAIN_SCHEMA.definitions.code.enum).toEqual(Object.keys(REASONS));
});

test('an explanation of this version is valid', () => {
  expect(problemsOf(preview, 'preview')).toBe('');
});

test.each([
  ['of version 1', { version: 1 }, 'explain.version should be equal to constant'],
  ['with an unknown code', { code: 'nothing' }, 'explain.code should be equal to one of the allowed values'],
  ['without a code', { code: undefined }, "explain should have required property 'code'"],
  ['with an unknown key', { why: 'so' }, 'explain should NOT have additional properties'],
  [
    'with an operation that has no code',
    {
      operations: [
        {
          ...{ location: 'in.mlir', operation: 'linalg.matmul', workload: null, outcome: 'skipped' },
          ...{ reason: 'so', configuration: null, speedup: null, landed: null, executables: [] },
        },
      ],
    },
    "explain.operations[0] should have required property 'code'",
  ],
])('an explanation %s is invalid', (_, change, problem) => {
  expect(problemsOf({ ...preview, ...change }, 'preview')).toContain(problem);
});
