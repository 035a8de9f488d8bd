// What changes a program around its operations is not injected unseen.
import { expect, test } from 'vitest';
import type { Configuration } from '../../src/backend/configuration.ts';
import type { Decision } from '../../src/decision/decision.ts';
import { withoutUnproven } from '../../src/wrapper/unproven.ts';

const tile: Configuration = {
  ...{ version: 1, kind: 'tile', peeling: false },
  ...{ distribution: [64, 64, 0], vectorCommonParallel: [8, 16, 0], vectorReduction: [0, 0, 4] },
};

const decision = (key: string, configuration: Configuration) =>
  ({ outcome: 'hit', reason: 'fast', tunable: { key }, configuration }) as Decision;

const decisions = [
  decision('a', tile),
  decision('b', { version: 1, kind: 'data-tile' }),
  decision('c', { version: 1, kind: 'default' }),
];

const reason = 'there was no time to find out whether it is slower with data tiling';

test('data tiling is left out, and said to be', () => {
  const before = { functions: [], skipped: [], leftOut: [], injected: true, reason: 'why' };
  const { decisions: after, verdict } = withoutUnproven(decisions, before);
  expect(after[0]).toBe(decisions[0]);
  expect(after[1]).toMatchObject({ outcome: 'default', reason, configuration: null });
  expect(after[2]).toBe(decisions[2]);
  expect(verdict).toEqual({ ...before, leftOut: [{ workload: 'b', reason }] });
});

test('nothing is injected where that was all', () => {
  const { verdict } = withoutUnproven(decisions.slice(1), {
    ...{ functions: [], skipped: [], leftOut: [], injected: true, reason: null },
  });
  expect(verdict!.injected).toBe(false);
});
