// Which parts of a variant of the command are tried, and which ones a program keeps. Nothing is compiled or run.
import { expect, test, vi } from 'vitest';
import type { Command } from '../../../src/compiler/command.ts';
import { KeptModules } from '../../../src/plan/kept-modules.ts';
import { NOT_MEASURED, type Measured } from '../../../src/program/runs.ts';
import type { MeasuredProgram } from '../../../src/running/callable.ts';
import { tryCommand } from '../../../src/running/variants/try-command.ts';
import type { CommandVariant } from '../../../src/running/variants/variant.ts';
import { because } from '../../../src/system/reason.ts';
import { commandOf, inputOf, siteOf, surroundingsOf } from '../../support/inspected.ts';
import { temporaryDirectory } from '../../support/folders.ts';

/** A machine on which parts of a program have these properties. */
interface Machine {
  /** Parts with other results alone. */
  readonly wrong?: readonly string[];
  /** Parts that do not compile. */
  readonly failing?: readonly string[];
  /** Parts that are slower than as written. */
  readonly slow?: readonly string[];
  /** Parts whose results are wrong together. */
  readonly apart?: readonly string[];
  /** Parts without which the others are nothing. */
  readonly base?: readonly string[];
  /** Speed-up of the program with some parts. */
  readonly ratioOf?: (keys: readonly string[]) => number;
}

let machine: Machine = {};
/** Parts of each program that was compiled, in order. */
let tried: string[] = [];

/** The parts of a command, whose names are its arguments. */
const partsOf = ({ command }: Pick<MeasuredProgram, 'command'>) => command.argv.slice(1);
const among = (keys: readonly string[], some: readonly string[] = []) =>
  keys.filter((key) => some.includes(key));

vi.mock(import('../../../src/plan/inspected.ts'), () => ({
  surveyed: (command, inspected) => Promise.resolve({ command, inspected }),
}));
vi.mock(import('../../../src/running/program-builds.ts'), async (original) => ({
  ...(await original()),
  programBuilds: (program) => ({
    split: () => Promise.resolve('no split'),
    stock() {
      const keys = partsOf(program);
      if (keys.length > 0) tried.push(keys.join(''));
      const isFailing = among(keys, machine.failing).length > 0;
      return Promise.resolve(isFailing ? { problem: 'it does not compile', isLate: false } : null);
    },
    tuned: () => Promise.reject(new Error('unused')),
  }),
}));
vi.mock(import('../../../src/running/callable.ts'), async (original) => ({
  ...(await original()),
  measuringTools: () => ({}) as never,
  callableOf: () => Promise.resolve({ called: [{} as never], skipped: [], given: new Map(), parameters: [] }),
  contestsOf: (program) => Promise.resolve([{ function: {}, parts: partsOf(program) } as never]),
}));
vi.mock(import('../../../src/program/runs.ts'), async (original) => ({
  ...(await original()),
  programRuns(contests) {
    const { parts: keys } = contests[0] as unknown as { readonly parts: readonly string[] };
    const isEqual = among(keys, machine.apart).length < 2;
    const ratio = machine.ratioOf?.(keys) ?? 2;
    const measured: Measured = {
      ...NOT_MEASURED,
      functions: [
        {
          ...{ name: 'main', equal: isEqual, maxError: 0, compared: null, reason: null },
          timing: isEqual ? { ratio, low: ratio, high: ratio, seconds: [ratio, 1] } : null,
        },
      ],
    };
    return {
      compare: () => Promise.resolve({ results: isEqual ? 'equal' : 'different', why: null }),
      ratio: () => Promise.resolve(1),
      slower: () => Promise.resolve([]),
      measured: () => measured,
    };
  },
}));

/** Tries the parts `a`, `b`, `c` and `d` on a machine. @returns the kept parts, and the parts of each compiled program */
async function search(on: Machine) {
  machine = on;
  tried = [];
  const command = commandOf('in.mlir');
  const whyWrong = (keys: readonly string[]) =>
    new Map(
      [...among(keys, on.wrong), ...among(keys, on.failing)].map((key) => [key, because('results-differ')]),
    );
  const variant: CommandVariant = {
    parts: new Map(['a', 'b', 'c', 'd'].map((key) => [key, 'changed'])),
    base: on.base ?? [],
    commandWith: (keys): Promise<Command> => Promise.resolve({ ...command, argv: ['in.mlir', ...keys] }),
    wrongAmong: (_, keys, isRefused = false) =>
      Promise.resolve(among(keys, on.failing).length > 0 && !isRefused ? null : whyWrong(keys)),
    blamedFor: () => new Map(),
    slower: (_, keys) => new Set(among(keys, on.slow)),
  };
  const surroundings = { ...surroundingsOf({ budgetSeconds: 60 }), cacheDirectory: temporaryDirectory() };
  const kept = new KeptModules();
  const written = { command, inspected: { input: inputOf(''), site: siteOf() } };
  const { keys, isRefused } = await tryCommand(variant, written, surroundings, kept);
  kept.discard();
  return { kept: isRefused ? '' : keys.join(''), tried };
}

test('a program is tried once with all parts if they are right and faster', async () => {
  expect(await search({})).toEqual({ kept: 'abcd', tried: ['abcd'] });
});

test.each<[string, Machine]>([
  ['has other results', { wrong: ['b'] }],
  ['does not compile', { failing: ['b'] }],
])('a part that %s costs no other part its change', async (_, on) => {
  expect(await search(on)).toEqual({ kept: 'acd', tried: ['abcd', 'acd'] });
});

test('a variant of which every part is wrong is refused', async () => {
  expect(await search({ wrong: ['a', 'b', 'c', 'd'] })).toEqual({ kept: '', tried: ['abcd'] });
});

test('of parts that are wrong together, halves are tried until one is right', async () => {
  expect(await search({ apart: ['a', 'd'] })).toEqual({ kept: 'ab', tried: ['abcd', 'ab'] });
  expect(await search({ apart: ['a', 'b'] })).toEqual({ kept: 'cd', tried: ['abcd', 'ab', 'cd'] });
  expect(await search({ apart: ['a', 'b', 'c', 'd'] })).toEqual({
    kept: 'a',
    tried: ['abcd', 'ab', 'cd', 'a'],
  });
});

test('each half keeps the parts that the others need', async () => {
  expect(await search({ base: ['a'], apart: ['c', 'd'] })).toEqual({ kept: 'abc', tried: ['abcd', 'abc'] });
  expect(await search({ base: ['a'], wrong: ['b', 'c', 'd'] })).toEqual({ kept: 'a', tried: ['abcd', 'a'] });
});

test('slower parts are left out if the program is faster without them', async () => {
  const slow = ['c', 'd'];
  const without = { kept: 'ab', tried: ['abcd', 'ab'] };
  expect(await search({ slow, ratioOf: (keys) => 3 - keys.length / 2 })).toEqual(without);
  expect(await search({ slow, ratioOf: (keys) => keys.length / 2 })).toEqual({ ...without, kept: 'abcd' });
});
