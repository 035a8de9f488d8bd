// Specs that bring tiles to whole dispatches, by the real compiler.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { dispatchRule } from '../../src/inject/dispatch-rules.ts';
import { tuningSpec, tuningSpecFlags } from '../../src/spec/tuning.ts';
import { readConfigured } from '../../src/workload/dispatch/configured.ts';
import {
  ATTENTION,
  GATHER,
  lastConfigured,
  SOFTMAX,
  TRANSPOSE,
  withRandomTiles,
} from '../support/dispatch-programs.ts';
import { temporaryDirectory } from '../support/folders.ts';

const PROGRAMS = [
  ['a softmax', SOFTMAX],
  ['a transpose', TRANSPOSE],
  ['a gather', GATHER],
] as const;

const levelsIn = (text: string) =>
  readConfigured(text)!.parts.map(({ levels }) => Object.fromEntries(levels));

/** Compiles a program with the rule of its last dispatch's text with random tiles. */
async function tilesBySpec(program: string) {
  const folder = temporaryDirectory();
  const stock = await lastConfigured(program, folder);
  const [tiled] = withRandomTiles(stock, 1);
  const rule = dispatchRule(tiled!.text);
  if (rule === null) return { stock, wanted: levelsIn(tiled!.text), found: null, flags: [], folder };
  const spec = join(folder, 'spec.mlir');
  writeFileSync(spec, tuningSpec([rule]));
  const flags = tuningSpecFlags(spec);
  const own = await lastConfigured(program, folder, flags);
  return { stock, wanted: levelsIn(tiled!.text), found: levelsIn(own.text), flags, folder };
}

describe.each(PROGRAMS)('%s', (_, program) => {
  test('gets its tiles by a spec', { timeout: 120_000 }, async () => {
    const { stock, wanted, found } = await tilesBySpec(program);
    expect(levelsIn(stock.text)).not.toEqual(wanted);
    expect(found).toEqual(wanted);
  });
});

test('the same dispatch of another program gets them, and one of another shape does not', async () => {
  const { wanted, flags, folder } = await tilesBySpec(SOFTMAX);
  const levelsOfLast = async (program: string) =>
    levelsIn((await lastConfigured(program, folder, flags)).text);
  const negated = SOFTMAX.replace(
    '  %r = linalg.softmax dimension(2) ins(%x ',
    `  %n = math.absf %x : tensor<4x100x190xf32>
  %b = util.optimization_barrier %n : tensor<4x100x190xf32>
  %r = linalg.softmax dimension(2) ins(%b `,
  );
  expect(negated).not.toBe(SOFTMAX);
  expect(await levelsOfLast(negated)).toEqual(wanted);
  expect(await levelsOfLast(SOFTMAX.replaceAll('190', '180'))).not.toEqual(wanted);
});

test('values from outside in a region have no rule: no matcher compares them', async () => {
  const { found } = await tilesBySpec(ATTENTION);
  expect(found).toBeNull();
});
