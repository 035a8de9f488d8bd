// Configurations that do not ship without a run of the program.
import { describe, expect, test } from 'vitest';
import type { Configuration } from '../../src/backend/configuration.ts';
import type { Decision } from '../../src/decision/decision.ts';
import { NO_TIME } from '../../src/program/judge.ts';
import { shippable } from '../../src/plan/unproven.ts';
import { tiles } from '../support/backend.ts';
import { matmul } from '../support/workloads.ts';
import { because } from '../../src/system/reason.ts';

const tile = tiles([64, 64, 0], [8, 16, 0], [0, 0, 4]);

const decision = (key: string, configuration: Configuration) =>
  ({ outcome: 'hit', reason: 'fast', tunable: { key }, configuration }) as Decision;

const decisions = [
  decision('a', tile),
  decision('b', { version: 1, kind: 'data-tile' }),
  decision('c', { version: 1, kind: 'default' }),
];

test('without time for a judgement all operations keep the default, with the reason', () => {
  const before = { functions: [], skipped: [], leftOut: [], injected: true, ...because('no-time', 'why') };
  const { decisions: after, verdict } = shippable(decisions, NO_TIME, before);
  expect(after[0]).toMatchObject({ outcome: 'default', ...NO_TIME, configuration: null });
  expect(after[1]).toMatchObject({ outcome: 'default', ...NO_TIME, configuration: null });
  expect(after[2]).toBe(decisions[2]);
  const leftOut = ['a', 'b'].map((workload) => ({ workload, ...NO_TIME }));
  expect(verdict).toEqual({ ...before, leftOut, injected: false });
});

test('without time for a judgement no other configuration takes the place of data tiling', () => {
  const both = { ...decisions[1]!, alternative: decision('b', tile) };
  const { decisions: after } = shippable([both], NO_TIME, null);
  expect(after).toMatchObject([{ outcome: 'default', configuration: null }]);
});

describe('in a program without a run', () => {
  const packed: Configuration = { version: 1, kind: 'data-tile' };
  const product = (m: number, n: number, k: number, configuration: Configuration, constantRhs = false) => {
    const workload = { ...matmul(m, n, k), constantRhs };
    return {
      ...decision(`${m}x${n}x${k}`, configuration),
      tunable: { key: `${m}x${n}x${k}`, workload },
    } as Decision;
  };
  const kinds = (some: readonly Decision[]) =>
    shippable(some, because('not-run'), null).decisions.map(
      ({ configuration }) => configuration?.kind ?? null,
    );

  test('an operand that another product may pack gets no data tiling', () => {
    expect(kinds([product(128, 3072, 768, tile), product(128, 768, 3072, packed)])).toEqual(['tile', null]);
    expect(
      kinds([product(128, 3072, 768, { version: 1, kind: 'default' }), product(128, 768, 3072, packed)]),
    ).toEqual(['default', null]);
    // A reshape in between does not change the number of elements.
    expect(kinds([product(64, 64, 16, tile), product(16, 32, 256, packed)])).toEqual(['tile', null]);
  });

  test('data tiling is kept if all products have it, or if no product reads another product', () => {
    expect(kinds([product(128, 3072, 768, packed), product(128, 768, 3072, packed)])).toEqual([
      'data-tile',
      'data-tile',
    ]);
    expect(kinds([product(128, 512, 768, tile), product(128, 768, 3072, packed)])).toEqual([
      'tile',
      'data-tile',
    ]);
    expect(kinds([product(512, 512, 512, packed)])).toEqual(['data-tile']);
  });

  test('a product without data tiling excludes data tiling of the products that read it', () => {
    const chain = [product(64, 96, 32, tile), product(64, 160, 96, packed), product(64, 48, 160, packed)];
    expect(kinds(chain)).toEqual(['tile', null, null]);
  });

  test('a configuration of the operation alone takes its place', () => {
    const second = product(128, 768, 3072, packed);
    const plain = product(128, 768, 3072, tile);
    expect(kinds([product(128, 3072, 768, tile), { ...second, alternative: plain }])).toEqual([
      'tile',
      'tile',
    ]);
  });

  test('constant operands are packed at compile time', () => {
    const others = product(768, 3072, 16, tile);
    expect(kinds([others, product(128, 768, 3072, packed)])).toEqual(['tile', null]);
    expect(kinds([others, product(128, 768, 3072, packed, true)])).toEqual(['tile', 'data-tile']);
  });

  test('a skipped operation is no reason to leave out data tiling', () => {
    const skipped = { ...decision('x', tile), tunable: null } as Decision;
    expect(kinds([skipped, product(8, 8, 8, packed)])).toEqual(['tile', 'data-tile']);
  });
});
