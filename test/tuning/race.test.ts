// Races of simulated finalists.
import { expect, test } from 'vitest';
import type { Configuration } from '../../src/backend/configuration.ts';
import { DATA_TILE_CONFIGURATION } from '../../src/backend/llvm-cpu/configuration.ts';
import type { Contestant, Field, Stratum } from '../../src/tuning/bench.ts';
import { finalRace as race, winner, type Race } from '../../src/tuning/final-race.ts';
import { STRATA } from '../../src/tuning/finals.ts';
import { decisionOf } from '../../src/tuning/result.ts';
import { tiles } from '../support/backend.ts';

/** Whether an undecided finalist keeps the decision from being final. */
const isOpen = (raced: Race) =>
  !decisionOf(raced, { trials: 1, tuningSeconds: 1, families: [], complete: true }).evidence.complete;

const tile = (i: number) => tiles([i + 1, 1, 0], [1, 1, 0], [0, 0, 1]);

/** The ninth configuration changes the whole program. */
const configuration = (i: number): Configuration => (i === 9 ? DATA_TILE_CONFIGURATION : tile(i));

/** Ratio of a finalist in a process, or how it fails. */
type Runner = (process: number, stratum: Stratum) => number | string;

/** Finals of a default of 1 ms, with the contestants of each process, repeated processes included. */
function finalsOf(runners: readonly Runner[], change: Partial<Field> = {}) {
  const timed: string[][] = [];
  const strata: Stratum[] = [];
  const finals: Field = {
    contestants: runners.map((_, i) => ({ name: `f${i}`, configuration: configuration(i), maxError: 0 })),
    failed: [],
    hasDefault: true,
    strata: STRATA,
    leastProcesses: 3,
    mostProcesses: 16,
    time: (names, stratum) => {
      const process = timed.length;
      timed.push([...names]);
      strata.push(stratum);
      const seconds = new Map<string, readonly number[]>();
      const failed = new Map<string, string>();
      for (const name of names) {
        const ratio = runners[Number(name.slice(1))]!(process, stratum);
        if (typeof ratio === 'string') failed.set(name, ratio);
        else seconds.set(name, [0.001 / ratio]);
      }
      return Promise.resolve([{ ...stratum, defaultSeconds: [0.001], seconds, failed, repetitions: 3 }]);
    },
    ...change,
  };
  return { finals, timed, strata };
}

/** A ratio that differs a little from process to process, differently for each `phase`. */
const about =
  (ratio: number, spread = 0.01, phase = 0): Runner =>
  (process) =>
    ratio * (1 + spread * Math.sin(2.4 * process + phase));

const always = () => true;
const never = () => false;

/** The race of such finals. */
async function raceOf(runners: readonly Runner[], change: Partial<Field> = {}, isTimeLeft = always) {
  const { finals, timed, strata } = finalsOf(runners, change);
  return { raced: (await race(finals, isTimeLeft))!, timed, strata };
}

test('the best finalist wins, in as many processes as it takes', async () => {
  const { raced, timed } = await raceOf([about(1.3), about(1.6), about(1.02)]);
  // A gain of 60% in each of three is plain.
  expect(winner(raced)).toMatchObject({ configuration: configuration(1), processes: 3 });
  expect(timed).toHaveLength(3);
  expect(raced).toMatchObject({ processes: 3, repetitions: 9, defaultSeconds: 0.001, noiseFloor: 0 });
});

test('processes are spread evenly over placements and builds', async () => {
  const { strata } = await raceOf([about(1.025, 0.03)]);
  expect(strata.length).toBe(16);
  const counts = Map.groupBy(strata, ({ placement, build }) => `${placement} ${build}`);
  expect([...counts.values()].map((own) => own.length)).toEqual([4, 4, 4, 4]);
});

test('placements that are alike count once', async () => {
  const { strata } = await raceOf([about(1.025, 0.03)], {
    strata: STRATA.filter(({ placement }) => placement === 'apart'),
  });
  const counts = Map.groupBy(strata, ({ placement, build }) => `${placement} ${build}`);
  expect([...counts].map(([name, own]) => [name, own.length])).toEqual([
    ['apart 0', 8],
    ['apart 1', 8],
  ]);
});

test('finalists that cannot win any more are dropped, and the others go on', async () => {
  const { timed } = await raceOf([about(0.8), about(1.06, 0.03), about(1.065, 0.03, 2)]);
  expect(timed[2]).toEqual(['f0', 'f1', 'f2']);
  expect(timed[3]).toEqual(['f1', 'f2']);
});

test('the best of the other kind is timed for some more processes, until it is known to be faster, too', async () => {
  const [first, packed] = [0, 9].map((i) => ({
    ...{ name: `f${i}`, configuration: configuration(i), maxError: 0 },
  })) as [Contestant, Contestant];
  /** A tile, and a configuration that changes the program. */
  const both = (tiled: Runner, whole: Runner) =>
    raceOf([tiled, ...Array<Runner>(8).fill(tiled), whole], { contestants: [first, packed] });
  const unsure = about(1.7, 0.25);
  for (const [tiled, whole] of [
    [about(2), unsure],
    [unsure, about(2)],
  ] as const) {
    const sure = tiled === unsure ? 'f9' : 'f0';
    const { raced, timed } = await both(tiled, whole);
    // Alone, each would be decided after four processes.
    expect(timed.length).toBeGreaterThan(4);
    expect(timed.length).toBeLessThanOrEqual(8);
    expect(timed.every((names) => names.includes(sure) && names.length === 2)).toBe(true);
    expect(winner(raced)!.ratio).toBeGreaterThan(1.9);
    expect(raced.standings.every(({ verdict }) => verdict === 'claim')).toBe(true);
  }
  // A configuration that is far behind alone is not kept for the program.
  expect((await both(about(2.4), about(1.5, 0.25))).timed.length).toBe(3);
});

test('a race without a gain ends soon', async () => {
  const { raced, timed } = await raceOf([about(1), about(0.9)]);
  expect(timed).toHaveLength(3);
  expect(winner(raced)).toBeNull();
  expect(isOpen(raced)).toBe(false);
});

test('a finalist that passes every test wins against a better one that does not', async () => {
  const lucky: Runner = (process, { build }) => (build === 0 ? 2.2 : 0.99) * (1 + 0.001 * (process % 3));
  const { raced } = await raceOf([lucky, about(1.2)]);
  expect(winner(raced)).toMatchObject({ configuration: configuration(1) });
});

test('a finalist that crashes is out, and its process is repeated for the others', async () => {
  const crashing: Runner = (process) => (process === 2 ? 'ended by SIGSEGV' : 3);
  const slow: Runner = (process) => (process === 1 ? 'took longer than 30.0 s' : 3);
  const { raced, timed, strata } = await raceOf([crashing, about(1.4), slow]);
  expect(winner(raced)).toMatchObject({ configuration: configuration(1), processes: 3 });
  expect(raced.failed).toEqual([
    { configuration: configuration(2), outcome: 'timeout', reason: 'took longer than 30.0 s' },
    { configuration: configuration(0), outcome: 'run-error', reason: 'ended by SIGSEGV' },
  ]);
  expect(timed.map((names) => names.length)).toEqual([3, 3, 2, 1, 1]);
  expect(strata.slice(1, 4)).toEqual([strata[1], strata[1], strata[1]]);
});

test('without time three processes decide about a huge gain, and leave a small one open', async () => {
  const huge = await raceOf([about(5)], {}, never);
  expect(winner(huge.raced)).toMatchObject({ processes: 3 });
  const { raced, timed } = await raceOf([about(1.05)], {}, never);
  expect(timed).toHaveLength(3);
  expect(winner(raced)).toBeNull();
  expect(isOpen(raced)).toBe(true);
});

test('a race that stays undecided is open, whether the machine is busy or not', async () => {
  for (const spread of [0.05, 0.3]) {
    const { raced, timed } = await raceOf([about(1.04, spread)]);
    expect(timed).toHaveLength(16);
    expect(raced.standings[0]!.verdict).toBe('undecided');
    expect(isOpen(raced)).toBe(true);
  }
});

test('a default that cannot be timed ends the race', async () => {
  const { finals, timed } = finalsOf([about(2)]);
  const without: Field = {
    ...finals,
    time: async (names, stratum) =>
      (await finals.time(names, stratum)).map((one) => ({ ...one, defaultSeconds: null })),
  };
  expect(await race(without, always)).toBeNull();
  expect(timed.length).toBeLessThan(10);
});

test('without finalists the default is timed alone', async () => {
  const { raced } = await raceOf([]);
  expect(raced).toMatchObject({ standings: [], processes: 3, defaultSeconds: 0.001 });
});

/** A race without time for more than the least number of processes. */
async function ended(ratio: number, spread: number, leastProcesses = 3) {
  const { raced } = await raceOf([about(ratio, spread)], { leastProcesses }, never);
  return { processes: raced.processes, isFaster: winner(raced) !== null };
}

test('a claim that two more processes are likely to make gets them after the time is up', async () => {
  expect(await ended(1.5, 0.08)).toEqual({ processes: 4, isFaster: true });
  expect(await ended(1.2, 0.08)).toEqual({ processes: 3, isFaster: false });
});

test('quick finalists get a few more processes if all processes show the same small gain', async () => {
  expect(await ended(1.08, 0.02)).toEqual({ processes: 3, isFaster: false });
  const { processes, isFaster } = await ended(1.08, 0.02, 4);
  expect(isFaster).toBe(true);
  expect(processes).toBeGreaterThan(4);
  expect(processes).toBeLessThanOrEqual(8);
  expect(await ended(1.03, 0.02, 4)).toEqual({ processes: 4, isFaster: false });
});

test('a gain whose size differs in each process gets more processes before it is given up', async () => {
  const gains = [2.8, 9, 3.5, 14, 6.2, 3, 5, 4];
  const { raced } = await raceOf([(process) => gains[process % gains.length]!], {}, never);
  expect(winner(raced)).not.toBeNull();
  expect(raced.processes).toBeLessThan(8);
});

test('if the default is slow in one placement, times and gain are those of the other placement', async () => {
  const aliasing: Runner = (process, { placement }) =>
    about(placement === 'packed' ? 6 : 1.7)(process, { placement, build: 0 });
  const { raced } = await raceOf([aliasing]);
  const { seconds, defaultSeconds, ratio } = winner(raced)!;
  expect(ratio).toBeCloseTo(1.7, 1);
  expect(defaultSeconds / seconds).toBeCloseTo(ratio, 1);
});
