// Data tiling as a variant of a program's decisions.
import { expect, test } from 'vitest';
import {
  DEFAULT_CONFIGURATION,
  type Configuration,
  type OwnConfiguration,
} from '../../../src/backend/configuration.ts';
import { DATA_TILE_CONFIGURATION } from '../../../src/backend/llvm-cpu/configuration.ts';
import { leaveOut, passedOver, withConfigurations, type Decision } from '../../../src/decision/decision.ts';
import { tunables } from '../../../src/input/input.ts';
import { noteOn, withVariant } from '../../../src/running/variants/data-tiling.ts';
import { DECISION, TILE } from '../../store/samples.ts';
import { inputOf, keyOfMatmul, matmulText, siteOf } from '../../support/inspected.ts';
import { because } from '../../../src/system/reason.ts';

const input = inputOf(matmulText(8, 16, 32) + matmulText(64, 64, 64));
const [first, second] = [keyOfMatmul(8, 16, 32), keyOfMatmul(64, 64, 64)];
const untuned = tunables(input).map((tunable) => passedOver(tunable, 'default', because('no-time')));

const variantOf = (decisions: readonly Decision[], inject: 'auto' | 'spec' = 'auto') =>
  withVariant(
    { inspected: { input, site: siteOf() }, decisions, memory: null },
    { inject, budgetSeconds: 60 },
  ).variant;
const keysOf = (...asked: Parameters<typeof variantOf>) => [...variantOf(...asked).keys()];

test('data tiling is a variant for an untuned operation, unless the setting inject excludes it', () => {
  expect(variantOf(untuned)).toEqual(
    new Map([
      [first, DATA_TILE_CONFIGURATION],
      [second, DATA_TILE_CONFIGURATION],
    ]),
  );
  expect(keysOf(untuned, 'spec')).toEqual([]);
});

test('an operation whose search had data tiling is in no variant', () => {
  const tuned = (
    families: readonly string[],
    configuration: Configuration = DECISION.configuration,
  ): Decision => ({
    ...untuned[0]!,
    outcome: 'hit',
    configuration,
    evidence: { ...DECISION.evidence, families },
  });
  expect(keysOf([tuned(['data-tile', 'tile']), untuned[1]!])).toEqual([second]);
  expect(keysOf([tuned(['data-tile', 'tile'], DEFAULT_CONFIGURATION), untuned[1]!])).toEqual([second]);
  expect(keysOf([tuned(['tile']), untuned[1]!])).toEqual([first, second]);
});

test('an alternative that is nearly as fast alone is in the variant', () => {
  const packed: Configuration = {
    ...DATA_TILE_CONFIGURATION,
    packed: { inner: [8, 8, 1], swapped: false, distribution: [4, 8] },
  };
  const families = ['data-tile', 'tile'];
  const evidence = { ...DECISION.evidence, families };
  const hit = (configuration: Configuration): Decision => ({
    ...untuned[0]!,
    ...{ outcome: 'hit', configuration, evidence },
  });
  const other: Decision = { ...untuned[1]!, outcome: 'skipped' };
  const tiled = { ...hit(DECISION.configuration), alternative: hit(packed) };
  expect(variantOf([tiled, other])).toEqual(new Map([[first, packed]]));
  expect(variantOf([{ ...hit(packed), alternative: hit(DECISION.configuration) }, other])).toEqual(new Map());
  // In a program of one operation it was compared before.
  expect(variantOf([tiled])).toEqual(new Map());
  // The replaced configuration is its alternative.
  const [varied] = withConfigurations([tiled], variantOf([tiled, other]), 'it is faster');
  expect(varied).toMatchObject({ configuration: packed, alternative: tiled });
  expect(leaveOut([varied!], (key, one) => (one?.kind === 'tile' ? null : because('no-time', key)))).toEqual([
    { ...tiled, reason: `${tiled.reason}; what is faster alone is left out: ${first}` },
  ]);
});

test('skipped operations and generated operations are in no variant', () => {
  const [one, other] = untuned as [Decision, Decision];
  expect(keysOf([{ ...one, outcome: 'skipped' }, other])).toEqual([second]);
  expect(keysOf([{ ...one, tunable: { ...one.tunable!, written: null } }, other])).toEqual([second]);
});

test('a chosen configuration replaces the decision', () => {
  const all = withConfigurations(untuned, new Map([[second, DATA_TILE_CONFIGURATION]]), 'it is faster');
  expect(all[0]).toBe(untuned[0]);
  expect(all[1]).toMatchObject({
    outcome: 'hit',
    reason: 'it is faster',
    configuration: DATA_TILE_CONFIGURATION,
    evidence: null,
    record: null,
  });
});

test('what a program keeps is noted without a variant, and a later configuration replaces it', () => {
  const noted = (configuration: OwnConfiguration, before: ReturnType<typeof noteOn>) => {
    const chosen = new Map([['a', configuration]]);
    return noteOn(new Map(), { chosen, reason: '', isOpen: true }, before, 60);
  };
  const first = noted(TILE, null);
  expect(first).toEqual({
    ...{ offers: [], reason: '', budgetSeconds: null },
    chosen: [{ workload: 'a', configuration: TILE }],
  });
  expect(noted(DATA_TILE_CONFIGURATION, first)!.chosen).toEqual([
    { workload: 'a', configuration: DATA_TILE_CONFIGURATION },
  ]);
  expect(noteOn(new Map(), { chosen: new Map(), reason: '', isOpen: true }, first, 60)).toBe(first);
});
