// Configurations that make a program slower stay out of it; their replacements do not.
import { expect, test } from 'vitest';
import { configurationText } from '../../src/backend/index.ts';
import type { Configuration } from '../../src/backend/configuration.ts';
import type { Decision } from '../../src/decision/decision.ts';
import { inProgram, whyLeftOut } from '../../src/running/program-memory.ts';

const packed: Configuration = { version: 1, kind: 'data-tile' };
const tile: Configuration = {
  ...{ version: 1, kind: 'tile', peeling: false },
  ...{ distribution: [64, 64, 0], vectorCommonParallel: [8, 16, 0], vectorReduction: [0, 0, 4] },
};
const decision = (configuration: Configuration) =>
  ({ outcome: 'hit', reason: 'fast', tunable: { key: 'a' }, configuration }) as Decision;
const leftOut = (...configurations: readonly Configuration[]) => ({
  leftOut: configurations.map((one) => ({
    ...{ workload: 'a', configuration: configurationText(one), reason: `${one.kind} is slower` },
  })),
  programWide: null,
});
const kindIn = (program: ReturnType<typeof leftOut>) =>
  inProgram([{ ...decision(packed), alternative: decision(tile) }], program, new Map(), 'auto')[0]!
    .configuration?.kind;

test('a configuration of the operation alone replaces a slower one, until it is slower, too', () => {
  expect(kindIn(leftOut())).toBe('data-tile');
  expect(kindIn(leftOut(packed))).toBe('tile');
  expect(kindIn(leftOut(packed, tile))).toBeUndefined();
  expect(kindIn(leftOut(tile))).toBe('data-tile');
});

test('each left-out configuration keeps its reason', () => {
  const program = leftOut(packed, tile);
  expect(whyLeftOut(program, 'a', packed)?.reason).toBe('data-tile is slower');
  expect(whyLeftOut(program, 'a', tile)?.reason).toBe('tile is slower');
  expect(whyLeftOut(program, 'a', { version: 1, kind: 'default' })).toBeNull();
  expect(whyLeftOut(program, 'b', tile)).toBeNull();
});
