// Decisions of builds that do not run their program.
import { expect, test } from 'vitest';
import type { Decision } from '../../src/decision/decision.ts';
import { KeptModules } from '../../src/plan/kept-modules.ts';
import { NO_TIME } from '../../src/program/judge.ts';
import { injectedSet, type ProgramMemory } from '../../src/running/variants/memory.ts';
import { because } from '../../src/system/reason.ts';
import { verifiedDecisions } from '../../src/running/verified-decisions.ts';
import { commandOf, inputOf, keyOfMatmul, matmulText, siteOf, surroundingsOf } from '../support/inspected.ts';
import { matmul } from '../support/workloads.ts';

const plan = { identity: 'plan', injection: { route: 'preprocess' } } as Parameters<
  typeof verifiedDecisions
>[1];
const dataTiled = {
  ...{ outcome: 'hit', reason: 'fast', configuration: { version: 1, kind: 'data-tile' } },
  tunable: { key: keyOfMatmul(8, 16, 32), workload: matmul(8, 16, 32) },
} as Decision;

/** The configurations that a build with budget 0 injects, given the program's note in the database. */
async function injectedWith(memory: ProgramMemory | null) {
  const inspected = { input: inputOf(matmulText(8, 16, 32)), site: siteOf() };
  const program = {
    ...{ command: commandOf('in.mlir'), inspected, decisions: [dataTiled] },
    ...{ identity: 'p', memory, variant: new Map() },
  };
  const surroundings = surroundingsOf({ budgetSeconds: 0 });
  const why = because('no-budget');
  const means = { store: null, surroundings, kept: new KeptModules() };
  const { decisions } = await verifiedDecisions(program, plan, why, means);
  return decisions.map(({ configuration }) => configuration);
}

const note = (change: Partial<ProgramMemory>): ProgramMemory => ({
  ...{ leftOut: [], verified: null, programWide: null, open: null },
  ...change,
});

const set = injectedSet([dataTiled], 'preprocess');
const open = { set, ...NO_TIME, budgetSeconds: 20, attempts: 1, lastTriedAt: '2026-11-26T00:00:00Z' };

test('a build without a run leaves out the same configurations as the build that ran out of time', async () => {
  expect(await injectedWith(note({ open }))).toEqual([null]);
});

test('a build without a run injects configurations that were verified, or that no build has run', async () => {
  for (const memory of [note({ verified: set }), null, note({ open: { ...open, set: 'another' } })])
    expect(await injectedWith(memory)).toEqual([dataTiled.configuration]);
});
