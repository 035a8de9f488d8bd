// Configurations that make a program slower stay out of it; their replacements do not.
import { expect, test } from 'vitest';
import { configurationText } from '../../../src/backend/index.ts';
import type { Configuration } from '../../../src/backend/configuration.ts';
import type { Decision } from '../../../src/decision/decision.ts';
import { inProgram, isWorthTrying, whyLeftOut } from '../../../src/running/variants/memory.ts';
import type { InjectRoute } from '../../../src/settings/settings.ts';
import { tiles } from '../../support/backend.ts';
import { matmul } from '../../support/workloads.ts';

const packed: Configuration = { version: 1, kind: 'data-tile' };
const tile = tiles([64, 64, 0], [8, 16, 0], [0, 0, 4]);
const decision = (configuration: Configuration) =>
  ({
    ...{ outcome: 'hit', reason: 'fast', configuration },
    tunable: { key: 'a', workload: matmul(8, 16, 32) },
  }) as Decision;
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

test('a program keeps configurations whose own gain is not certain, until the workload has a record', () => {
  const programWide = {
    ...{ offers: [], reason: '', budgetSeconds: null },
    chosen: [{ workload: 'a', configuration: tile }],
  };
  const used = (one: Decision, inject: InjectRoute = 'auto') =>
    inProgram([one], { leftOut: [], programWide }, new Map(), inject)[0]!;
  const other: Configuration = { ...tile, peeling: true };
  expect(used(decision({ version: 1, kind: 'default' }))).toMatchObject({
    ...{ configuration: tile, outcome: 'hit', code: 'faster' },
  });
  expect(used(decision(other)).configuration).toBe(other);
  expect(used(decision({ version: 1, kind: 'default' }), 'inline').configuration).toBe(tile);
});

test('a configuration in a note that does not fit its workload is ignored', () => {
  const flat = { ...tile, distribution: [64], vectorCommonParallel: [8], vectorReduction: [0] };
  const programWide = {
    ...{ offers: [], reason: '', budgetSeconds: null },
    chosen: [{ workload: 'a', configuration: flat }],
  };
  const [one] = inProgram(
    [decision({ version: 1, kind: 'default' })],
    { leftOut: [], programWide },
    new Map(),
    'auto',
  );
  expect(one!.configuration).toEqual({ version: 1, kind: 'default' });
});

test('a variant without a verdict is tried by three builds, then by a build with more time', () => {
  expect(isWorthTrying({ attempts: 2, budgetSeconds: 60 }, 60)).toBe(true);
  expect(isWorthTrying({ attempts: 3, budgetSeconds: 60 }, 60)).toBe(false);
  expect(isWorthTrying({ attempts: 3, budgetSeconds: 60 }, 120)).toBe(true);
});

test('a variant whose builds are not counted is tried again with more time only, and with a verdict never', () => {
  expect(isWorthTrying({ budgetSeconds: 60 }, 60)).toBe(false);
  expect(isWorthTrying({ budgetSeconds: 60 }, 120)).toBe(true);
  expect(isWorthTrying({ budgetSeconds: null }, 120)).toBe(false);
});
