// Configurations for all operations of a program at once.
import { expect, test } from 'vitest';
import { DEFAULT_CONFIGURATION, type Configuration } from '../../src/backend/configuration.ts';
import { DATA_TILE_CONFIGURATION } from '../../src/backend/llvm-cpu/configuration.ts';
import { leaveOut, passedOver, type Decision } from '../../src/decision/decision.ts';
import { programWideOf, withProgramWide } from '../../src/decision/program-wide.ts';
import { tunables } from '../../src/input/input.ts';
import { DECISION } from '../store/samples.ts';
import { inputOf, keyOfMatmul, matmulText, siteOf } from '../support/inspected.ts';
import { because } from '../../src/system/reason.ts';

const input = inputOf(matmulText(8, 16, 32) + matmulText(64, 64, 64));
const [first, second] = [keyOfMatmul(8, 16, 32), keyOfMatmul(64, 64, 64)];
const untuned = tunables(input).map((tunable) =>
  passedOver(tunable.place, tunable, 'default', because('no-time')),
);

const offered = (decisions: readonly Decision[], inject: 'auto' | 'spec' = 'auto') =>
  [...programWideOf(decisions, input, siteOf(), { inject })].map(([key]) => key);

test('an untuned operation is offered data tiling, unless the setting inject excludes it', () => {
  expect(programWideOf(untuned, input, siteOf(), { inject: 'auto' })).toEqual(
    new Map([
      [first, DATA_TILE_CONFIGURATION],
      [second, DATA_TILE_CONFIGURATION],
    ]),
  );
  expect(offered(untuned, 'spec')).toEqual([]);
});

test('an operation whose search had data tiling is offered nothing', () => {
  const tuned = (
    families: readonly string[],
    configuration: Configuration = DECISION.configuration,
  ): Decision => ({
    ...untuned[0]!,
    outcome: 'hit',
    configuration,
    evidence: { ...DECISION.evidence, families },
  });
  expect(offered([tuned(['data-tile', 'tile']), untuned[1]!])).toEqual([second]);
  expect(offered([tuned(['data-tile', 'tile'], DEFAULT_CONFIGURATION), untuned[1]!])).toEqual([second]);
  expect(offered([tuned(['tile']), untuned[1]!])).toEqual([first, second]);
});

test('an alternative that is nearly as fast alone is offered', () => {
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
  const offer = (decision: Decision, others: readonly Decision[] = [other]) =>
    programWideOf([decision, ...others], input, siteOf(), { inject: 'auto' });
  const tiled = { ...hit(DECISION.configuration), alternative: hit(packed) };
  expect(offer(tiled)).toEqual(new Map([[first, packed]]));
  expect(offer({ ...hit(packed), alternative: hit(DECISION.configuration) })).toEqual(new Map());
  // In a program of one operation it was compared before.
  expect(offer(tiled, [])).toEqual(new Map());
  // The replaced configuration is its alternative.
  const [wide] = withProgramWide([tiled], offer(tiled), 'it is faster');
  expect(wide).toMatchObject({ configuration: packed, alternative: tiled });
  expect(leaveOut([wide!], (key, one) => (one?.kind === 'tile' ? null : because('no-time', key)))).toEqual([
    { ...tiled, reason: `${tiled.reason}; what is faster alone is left out: ${first}` },
  ]);
});

test('skipped operations and generated operations are offered nothing', () => {
  const [one, other] = untuned as [Decision, Decision];
  expect(offered([{ ...one, outcome: 'skipped' }, other])).toEqual([second]);
  expect(offered([{ ...one, tunable: { ...one.tunable!, written: null } }, other])).toEqual([second]);
});

test('a chosen configuration replaces the decision', () => {
  const all = withProgramWide(untuned, new Map([[second, DATA_TILE_CONFIGURATION]]), 'it is faster');
  expect(all[0]).toBe(untuned[0]);
  expect(all[1]).toMatchObject({
    outcome: 'hit',
    reason: 'it is faster',
    configuration: DATA_TILE_CONFIGURATION,
    evidence: null,
    record: null,
  });
});
