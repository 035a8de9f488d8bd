import { parse } from 'mlir-parser-ts';
import { expect, test } from 'vitest';
import { loadBackend } from '../../src/backend/index.ts';
import type { SimtTileConfiguration } from '../../src/backend/gpu/configuration.ts';
import type { Decision } from '../../src/decision/decision.ts';
import { classify, type TunableOperation } from '../../src/input/operation.ts';
import type { Route } from '../../src/settings/settings.ts';
import { notePlan, planIdentity } from '../../src/plan/ledger.ts';
import { planCompile } from '../../src/plan/route.ts';
import type { Configuration } from '../../src/backend/configuration.ts';
import { hit } from '../inject/decisions.ts';
import { MATMUL_TILES } from '../support/backend.ts';
import { temporaryDirectory } from '../support/folders.ts';
import { commandOf, inputOf, siteOf, surroundingsOf } from '../support/inspected.ts';

const command = commandOf('in.mlir');
const inspected = { input: inputOf(''), site: siteOf() };

const operation = (m: number) =>
  `%r = linalg.matmul ins(%x, %y : tensor<${m}x4xf32>, tensor<4x16xf32>) outs(%z : tensor<${m}x16xf32>) -> tensor<${m}x16xf32>\n`;
const decide = (configurations: readonly Configuration[]): Decision[] =>
  classify(parse(Buffer.from(configurations.map((_, i) => operation(8 + i)).join(''))).operations, {}).map(
    (tunable, i) => hit(tunable as TunableOperation, configurations[i]!),
  );

function planner(decisions: readonly Decision[], inject: 'auto' | Route = 'auto') {
  const cacheDirectory = temporaryDirectory();
  return {
    route: () =>
      planCompile({ command, inspected }, decisions, { ...surroundingsOf({ inject }), cacheDirectory })
        .injection.route,
    found: (route: Route, landed: readonly (boolean | null)[] | null) => {
      const identity = planIdentity(command, inspected.input.digest, decisions, route);
      notePlan(cacheDirectory, identity, { landed });
    },
  };
}

test('after a loss the next route is tried, substitution last, then the first route again', () => {
  const { route, found } = planner(decide([MATMUL_TILES]));
  const tried: string[] = [];
  for (const expected of ['spec', 'preprocess', 'inline', 'substitute'] as const) {
    tried.push(route());
    found(expected, [false]);
  }
  expect(tried).toEqual(['spec', 'preprocess', 'inline', 'substitute']);
  expect(route()).toBe('spec');
});

test('a route without a loss stays, with or without a proof', () => {
  for (const landed of [[true], [null], null]) {
    const { route, found } = planner(decide([MATMUL_TILES]));
    found('spec', landed);
    expect(route()).toBe('spec');
  }
});

test('a route of the user stays after a loss', () => {
  const { route, found } = planner(decide([MATMUL_TILES]), 'inline');
  found('inline', [false]);
  expect(route()).toBe('inline');
});

test('data tiling stays after the configuration of another operation was lost', () => {
  const { route, found } = planner(decide([{ version: 1, kind: 'data-tile' }, MATMUL_TILES]));
  expect(route()).toBe('preprocess');
  found('preprocess', [true, false]);
  expect(route()).toBe('preprocess');
});

test('a tuning spec has the flag of its target, whichever backend of the kind was loaded first', async () => {
  for (const backend of ['cuda', 'rocm']) await loadBackend(backend);
  const tile: SimtTileConfiguration = {
    ...{ version: 1, kind: 'simt-tile', subgroupSize: 32, igemm: false, padded: false, promoted: false },
    ...{ workgroup: [8, 16, 0], thread: [1, 4, 0], reduction: [0, 0, 4] },
  };
  const plans = ['cuda', 'rocm'].map((backend) => {
    const site = siteOf({}, { backend });
    const program = { command, inspected: { ...inspected, site } };
    return planCompile(program, decide([tile]), surroundingsOf({ inject: 'spec' })).injection;
  });
  expect(plans).toMatchObject([
    { route: 'spec', flag: 'library' },
    { route: 'spec', flag: 'tuning-spec' },
  ]);
});
