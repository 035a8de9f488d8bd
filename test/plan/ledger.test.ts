import { expect, test } from 'vitest';
import type { Decision } from '../../src/decision/decision.ts';
import { tunables } from '../../src/input/input.ts';
import { programIdentity } from '../../src/compiler/command-identity.ts';
import {
  ledger,
  notePlan,
  planIdentity,
  TRANSITIONS,
  type Finding,
  type PlanState,
} from '../../src/plan/ledger.ts';
import { hit } from '../inject/decisions.ts';
import { MATMUL_TILES } from '../support/backend.ts';
import { temporaryDirectory } from '../support/folders.ts';
import { workloadKey, type OperationWork } from '../../src/workload/workload.ts';
import { commandOf, inputOf, matmulText } from '../support/inspected.ts';
import { operationWork } from '../support/operation-work.ts';

const argv = ['in.mlir', '-o', 'out.vmfb'];

function decision(change: (workload: OperationWork) => OperationWork = (workload) => workload): Decision {
  const [tunable] = tunables(inputOf(matmulText(8, 16, 4)));
  const workload = change(operationWork(tunable!.workload));
  return hit({ ...tunable!, workload, key: workloadKey(workload) }, MATMUL_TILES);
}

test('the same configuration on another form of operation makes another plan', () => {
  const identity = (of: Decision) => planIdentity(commandOf(...argv), 'digest', [of], 'spec');
  const transposed = decision((workload) => ({ ...workload, lhs: { ...workload.lhs, dimensions: [2, 0] } }));
  expect(identity(decision())).toBe(identity(decision()));
  expect(identity(transposed)).not.toBe(identity(decision()));
});

test('a plan does not depend on the output path, but on flags and inputs', () => {
  const identity = (given: string[], digest = 'digest') =>
    planIdentity(commandOf(...given), digest, [decision()], 'spec');
  expect(identity(['in.mlir', '-o', 'other.vmfb'])).toBe(identity(argv));
  expect(identity([...argv, '--iree-opt-level=O2'])).not.toBe(identity(argv));
  expect(identity(argv, 'another')).not.toBe(identity(argv));
});

test('notes about a program hold for one device', () => {
  const place = { target: 'llvm-cpu znver4', compiler: '3.13.0' };
  const identity = (device: string, digest = 'digest') =>
    programIdentity(commandOf(...argv), digest, { ...place, device });
  expect(identity('a CPU local-sync threads=1')).toBe(identity('a CPU local-sync threads=1'));
  expect(identity('a CPU local-task threads=8')).not.toBe(identity('a CPU local-sync threads=1'));
  expect(identity('a CPU local-sync threads=1', 'another')).not.toBe(identity('a CPU local-sync threads=1'));
});

const FINDINGS: readonly (readonly [PlanState, Finding])[] = [
  ['killed', 'killed'],
  ['compiled', { landed: null }],
  ['landed', { landed: [true, null] }],
  ['lost', { landed: [true, false] }],
  ['broken', { reason: 'an error' }],
];

test.each(
  [['unknown', null] as const, ...FINDINGS].flatMap(([from, before]) =>
    FINDINGS.map(([to, finding]) => ({ from, to, before, finding })),
  ),
)('a plan that is $from and becomes $to', ({ from, to, before, finding }) => {
  const directory = temporaryDirectory();
  if (before !== null) notePlan(directory, 'plan', before);
  expect(ledger.recall(directory, 'plan')?.state ?? 'unknown').toBe(from);
  notePlan(directory, 'plan', finding);
  const isAllowed = TRANSITIONS[from].includes(to);
  const isSecondKill = from === 'killed' && to === 'killed';
  expect(ledger.recall(directory, 'plan')!.state).toBe(isSecondKill ? 'broken' : isAllowed ? to : from);
});

test('a broken plan stays broken, and every other plan can become broken', () => {
  expect(TRANSITIONS.broken).toEqual([]);
  for (const state of ['unknown', 'killed', 'compiled', 'landed', 'lost'] as const)
    expect(TRANSITIONS[state]).toContain('broken');
});
