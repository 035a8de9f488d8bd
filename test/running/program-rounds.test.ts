// The choice of workloads that are tuned in rounds of the whole program.
import { expect, test } from 'vitest';
import { contendersOf } from '../../src/running/program-rounds.ts';
import { SPACE } from '../support/backend.ts';
import { matmul, softmax } from '../support/workloads.ts';

const works = (operations: number, dispatches: number) => [
  ...Array.from({ length: operations }, (_, i) => ({
    key: `operation ${i}`,
    workload: matmul(64 + i, 64, 64),
  })),
  ...Array.from({ length: dispatches }, (_, i) => ({ key: `dispatch ${i}`, workload: softmax(64 + i, 64) })),
];

const chosen = (operations: number, dispatches: number) =>
  contendersOf(
    works(operations, dispatches).map((one) => ({
      ...one,
      count: 1,
      executables: [one.key],
      options: SPACE,
    })),
  ).map(({ key }) => key.split(' ')[0]);

test.each([
  ['one operation beside few dispatches', [1, 3], 0, 3],
  ['few operations alone', [3, 0], 0, 0],
  ['enough operations', [4, 0], 4, 0],
  // Rounds run for the dispatches anyway. Afterwards, no time is left for the operation.
  ['one operation beside many dispatches', [1, 4], 1, 4],
] as const)('%s', (_, [operations, dispatches], joined, alone) => {
  const all = chosen(operations, dispatches);
  expect(all.filter((one) => one === 'operation')).toHaveLength(joined);
  expect(all.filter((one) => one === 'dispatch')).toHaveLength(alone);
});
