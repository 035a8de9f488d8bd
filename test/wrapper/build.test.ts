// Operations that are looked up, tuned, noted or left to the default, without a compiler and without measuring tools.
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import type { Input } from '../../src/input/input.ts';
import { surveyMemory } from '../../src/input/survey-memory.ts';
import type { Settings } from '../../src/settings/index.ts';
import { acquireMeasuringLock } from '../../src/site/measuring-lock.ts';
import type { Site } from '../../src/site/site.ts';
import { BUSY } from '../../src/site/turn.ts';
import type { Store } from '../../src/store/store.ts';
import { stampsOf } from '../../src/system/files.ts';
import { placeOf } from '../../src/store/subject.ts';
import { tuneWorkloads, type TuneOutcome } from '../../src/tuning/tune-workloads.ts';
import { DOES_NOT_RUN } from '../../src/tuning/undecided.ts';
import { programMemory, type ProgramMemory } from '../../src/running/variants/memory.ts';
import { programOf } from '../../src/running/program-notes.ts';
import { KeptModules } from '../../src/plan/kept-modules.ts';
import { OpenProgram } from '../../src/wrapper/open-program.ts';
import { withSurvey } from '../../src/input/operations.ts';
import { Build } from '../../src/wrapper/build.ts';
import { program } from '../support/scripts.ts';
import {
  aboutMatmul,
  DEFAULT,
  here,
  input as inputOfSizes,
  keyOf,
  NO_GAIN,
  storeWith,
} from '../decision/support.ts';
import { EVIDENCE, open, temporaryPath, TILE } from '../store/support.ts';
import { commandOf, siteOf, surroundingsOf } from '../support/inspected.ts';
import { matmul } from '../support/workloads.ts';
import { because } from '../../src/system/reason.ts';

// The real tuner stops because there are no tools, unless a test sets its result.
vi.mock(import('../../src/tuning/tune-workloads.ts'), { spy: true });
const tuner = vi.mocked(tuneWorkloads);
beforeEach(() => {
  tuner.mockClear();
});

const command = commandOf('in.mlir', '-o', 'out.vmfb');

interface Case {
  readonly store?: Store | null;
  readonly whyNoStore?: string;
  readonly input?: Input;
  readonly site?: Site;
  readonly settings?: Partial<Settings>;
  readonly surroundings?: ReturnType<typeof surroundingsOf>;
  readonly program?: ProgramMemory | null;
}

/** The decisions about one compile, by default about a miss that may be tuned. */
async function resolved({
  store = storeWith(),
  whyNoStore,
  input = inputOfSizes(8),
  site = here,
  settings = {},
  surroundings = surroundingsOf(settings),
  program = null,
}: Case = {}) {
  const inspected = { input, site };
  if (program !== null)
    programMemory.remember(store!, await programOf(command, inspected, store, surroundings), program);
  const problem = whyNoStore === undefined ? null : because('no-database', whyNoStore);
  const means = { store, surroundings, kept: new KeptModules(), problem };
  const open = await OpenProgram.in({ command, inspected }, means);
  const build = new Build(open, means);
  await build.lookUp();
  await build.tune();
  const { tuned, whyNot } = build;
  const { decisions, ...rest } = tuned;
  return {
    ...{ ...rest, whyNot, inspected },
    got: decisions.map(({ outcome, reason }) => [outcome, reason]),
    now: build.program.inspected,
  };
}

/** Sets the result of the tuner. */
const tuned = (sizes: readonly number[], change: Partial<TuneOutcome> = {}) => {
  const known = { configuration: TILE, evidence: { ...EVIDENCE, ratio: 3 }, outcome: 'tuned' as const };
  tuner.mockResolvedValueOnce({
    results: new Map(sizes.map((m) => [keyOf(m), known])),
    undecided: new Map(),
    whyNot: because('budget-spent'),
    ...change,
  });
};
/** The workloads of each call of the tuner. */
const askedFor = () => tuner.mock.calls.map(([works]) => works.map(({ key }) => key));

const HIT = ['hit', '1.83x faster than the default'];
const TUNED = ['tuned', '3.00x faster than the default'];

describe('a compile with a record for each operation', () => {
  test('is final, and calls no tool', async () => {
    const { now, inspected, ...rest } = await resolved({ store: storeWith([8]) });
    expect(rest).toEqual({
      got: [HIT],
      seconds: 0,
      isFinal: true,
      files: [],
      whyNot: null,
      confirmed: null,
    });
    expect(now).toBe(inspected);
    expect(tuner).not.toHaveBeenCalled();
  });
});

describe('a miss with tuning disabled', () => {
  const elsewhere = siteOf({ whyNotHere: because('device-unsuitable', 'this machine is arm64') });
  test.each<[string, Case, string, boolean]>([
    ['cannot be measured here', { site: elsewhere }, 'this machine is arm64', true],
    [
      'is left to the default',
      { settings: { onMiss: 'default' } },
      'no record, and tuning is off (on-miss=default)',
      true,
    ],
    ['is noted', { settings: { onMiss: 'record' } }, 'no record, and tuning is off (on-miss=record)', false],
    ['has no time', { settings: { budgetSeconds: 0 } }, 'no record, and the tuning budget is 0', true],
    ['could not be kept', { settings: { readonly: true } }, 'no record, and the database is read-only', true],
    ['has no database', { store: null }, 'no tuning database', false],
    [
      'has a broken database',
      { store: null, whyNoStore: 'the file is damaged', site: elsewhere },
      'the file is damaged',
      false,
    ],
    [
      'cannot be measured here, with any other settings',
      { site: elsewhere, settings: { onMiss: 'default', budgetSeconds: 0, readonly: true } },
      'this machine is arm64',
      true,
    ],
  ])('that %s is left to the default, with the reason', async (_, given, reason, isFinal) => {
    const { got, seconds, ...rest } = await resolved(given);
    expect(rest.isFinal).toBe(isFinal);
    expect({ got, seconds }).toEqual({ got: [['default', reason]], seconds: 0 });
    expect(tuner).not.toHaveBeenCalled();
  });
  test('is noted once per workload with on-miss=record, and a hit is not noted', async () => {
    const store = storeWith([8, { evidence: { families: ['tile'] } }]);
    const settings = { onMiss: 'record' } as const;
    await resolved({ store, input: inputOfSizes(16, 8, 16, 24), settings });
    const noted = store.misses();
    expect(noted.map(({ workload, count }) => [workload, count]).sort()).toEqual([
      [keyOf(16), 1],
      [keyOf(24), 1],
    ]);
    expect(store.subject({ workload: keyOf(16), ...placeOf(here) })).toEqual(aboutMatmul(16));
  });
});

describe('a miss', () => {
  test('is tuned once per workload, with the whole budget', async () => {
    tuned([8, 16]);
    const input = inputOfSizes(8, 16, 8);
    const { got, isFinal, seconds } = await resolved({ input, settings: { budgetSeconds: 30 } });
    expect(got).toEqual([TUNED, TUNED, TUNED]);
    expect(isFinal).toBe(true);
    expect(askedFor()).toEqual([[keyOf(8), keyOf(16)]]);
    const [[works, , , , , options]] = tuner.mock.calls as [(typeof tuner.mock.calls)[0]];
    expect(works.map(({ count }) => count)).toEqual([2, 1]);
    expect(options.givenSeconds).toBe(30);
    expect(options.budgetSeconds).toBeLessThanOrEqual(30);
    expect(options.budgetSeconds).toBeGreaterThan(0);
    expect(seconds).toBeGreaterThan(0);
  });
  test('has the budget minus the wait of its survey', async () => {
    tuned([8]);
    const input = { ...inputOfSizes(8), waitedSeconds: 20 };
    const { seconds } = await resolved({ input, settings: { budgetSeconds: 30 } });
    expect(tuner.mock.calls[0]![5].budgetSeconds).toBeLessThanOrEqual(10);
    expect(seconds).toBeGreaterThanOrEqual(20);
  });
  test('is tuned together with a record of fewer families, which stays a hit', async () => {
    tuned([16], { whyNot: because('budget-spent') });
    const { got, isFinal } = await resolved({
      store: storeWith([8, { evidence: { families: ['tile'] } }]),
      input: inputOfSizes(8, 16),
    });
    expect(askedFor()).toEqual([[keyOf(16), keyOf(8)]]);
    expect(got).toEqual([HIT, TUNED]);
    expect(isFinal).toBe(false);
  });
  test('without a result is left to the default, and the next build may tune it', async () => {
    tuned([8], { whyNot: because('budget-spent') });
    const { got, isFinal } = await resolved({ input: inputOfSizes(8, 16) });
    expect(got).toEqual([TUNED, ['default', 'the tuning budget is spent']]);
    expect(isFinal).toBe(false);
  });
  test('cannot be tuned without tools', async () => {
    const { got, isFinal } = await resolved();
    expect(got).toEqual([
      ['default', expect.stringMatching(/^iree-benchmark-module and iree-run-module are not found/)],
    ]);
    expect(isFinal).toBe(false);
  });
  test('with failed tuning is left to the default, and the log has the reason', async () => {
    const log = join(dirname(temporaryPath()), 'log');
    const listeners = () => ['SIGINT', 'SIGTERM', 'SIGHUP'].map((name) => process.listenerCount(name));
    const before = listeners();
    tuner.mockImplementationOnce(() => {
      expect(listeners()).toEqual(before.map((count) => count + 1));
      throw new Error('the disk is full');
    });
    const { got, isFinal } = await resolved({ settings: { log } });
    expect(got).toEqual([['default', 'tuning failed: the disk is full']]);
    expect(isFinal).toBe(false);
    expect(readFileSync(log, 'utf8')).toMatch(/Z tuning failed: the disk is full\n$/);
    expect(listeners()).toEqual(before);
  });
});

describe('a record of unfinished searches', () => {
  const NOTHING = ['hit', 'nothing faster yet; a build or iree-tuned tune goes on'];
  const unfinished = (tuningSeconds = 10) =>
    storeWith([8, { configuration: DEFAULT, evidence: { ...NO_GAIN, complete: false, tuningSeconds } }]);
  test('is continued by a build that may tune, together with the misses', async () => {
    tuned([8, 16]);
    const { got, isFinal } = await resolved({ store: unfinished(), input: inputOfSizes(8, 16) });
    expect(askedFor()).toEqual([[keyOf(16), keyOf(8)]]);
    expect(got).toEqual([TUNED, TUNED]);
    expect(isFinal).toBe(true);
    expect(tuner.mock.calls[0]![5].patienceSeconds).toBeUndefined();
  });
  test.each<[string, number, Partial<Settings>]>([
    ['has had its time', 55, {}],
    ['is not to be tuned', 10, { onMiss: 'default' }],
    ['may not be written', 10, { readonly: true }],
  ])('is a plain hit if it %s', async (_, spent, change) => {
    const settings = { budgetSeconds: 60, ...change };
    const { got, isFinal } = await resolved({ store: unfinished(spent), settings });
    expect({ got, isFinal }).toEqual({ got: [NOTHING], isFinal: true });
    expect(tuner).not.toHaveBeenCalled();
  });
  test('does not wait for other processes that measure', async () => {
    const surroundings = surroundingsOf({ budgetSeconds: 3600 });
    const lock = await acquireMeasuringLock(surroundings, 0);
    try {
      const input = { ...inputOfSizes(8), surveyed: false };
      const { got, isFinal } = await resolved({ store: unfinished(), input, surroundings });
      expect({ got, isFinal }).toEqual({ got: [NOTHING], isFinal: false });
    } finally {
      lock!.release();
    }
    expect(tuner).not.toHaveBeenCalled();
  });
});

describe('a miss that an earlier build could not decide', () => {
  /** A database in which the workload of size 8 is undecided after 20 s. */
  function undecided(reason = 'the default is too slow', now = new Date(0)): Store {
    const store = open(temporaryPath(), { now: () => now });
    store.noteUndecided(aboutMatmul(8), reason, 20);
    return store;
  }
  /** Tools that were installed just now. */
  function withTools(budgetSeconds: number) {
    const surroundings = surroundingsOf({ budgetSeconds });
    const tools = ['iree-benchmark-module', 'iree-run-module'].map((name) =>
      program(join(surroundings.root, '.venv/bin', name), 'exit 1'),
    );
    return { surroundings, tools };
  }
  const LEFT = ['default', expect.stringMatching(/^cannot be decided: /)];

  test.each([20, 25])('is not tried again within %i s with the same tools', async (budget) => {
    const { surroundings, tools } = withTools(budget);
    const { got, isFinal, files } = await resolved({ store: undecided(), surroundings });
    expect({ got, isFinal, files }).toEqual({ got: [LEFT], isFinal: true, files: stampsOf(tools) });
    expect(tuner).not.toHaveBeenCalled();
  });
  test('is tried again with more time', async () => {
    tuned([8]);
    const { got } = await resolved({ store: undecided(), settings: { budgetSeconds: 26 } });
    expect(got).toEqual([TUNED]);
  });
  test('is not tried again if other misses leave it no more time', async () => {
    tuned([16, 24]);
    const input = inputOfSizes(8, 16, 24);
    const { got, isFinal } = await resolved({ store: undecided(), input, settings: { budgetSeconds: 60 } });
    expect(askedFor()).toEqual([[keyOf(16), keyOf(24)]]);
    expect(got).toEqual([LEFT, TUNED, TUNED]);
    expect(isFinal).toBe(true);
  });
  test('because it did not run is tried again after a new runtime was installed', async () => {
    const didNotRun = `${DOES_NOT_RUN}: exit code 3`;
    const { surroundings } = withTools(20);
    tuned([8]);
    expect((await resolved({ store: undecided(didNotRun), surroundings })).got).toEqual([TUNED]);
    const later = new Date(Date.now() + 3600_000);
    expect((await resolved({ store: undecided(didNotRun, later), surroundings })).got).toEqual([LEFT]);
  });
});

describe('generated operations can differ from the text', () => {
  /** A build of an input with size 8, which becomes size `m` in an earlier survey. */
  function becoming(m: number | null, settings: Partial<Settings> = {}) {
    const surroundings = surroundingsOf(settings);
    const input = { ...inputOfSizes(8), surveyed: false };
    if (m !== null)
      surveyMemory.remember(surroundings.cacheDirectory, {
        identity: input.identity,
        rewritables: [],
        operations: [
          {
            name: 'linalg.matmul',
            index: 0,
            location: null,
            skipped: null,
            generated: { workload: matmul(m, 512, 512), loops: [0, 1, 2] },
            written: null,
          },
        ],
        seconds: 1,
      });
    return { surroundings, input };
  }

  test('generated operations are looked up before tuning', async () => {
    const { got, now, isFinal } = await resolved({ store: storeWith([9]), ...becoming(9) });
    expect(got).toEqual([HIT]);
    expect(now.input.surveyed).toBe(true);
    expect(isFinal).toBe(true);
    expect(tuner).not.toHaveBeenCalled();
  });
  test('generated operations are tuned by the build that holds the measuring lock', async () => {
    const given = becoming(9);
    tuned([9]);
    expect((await resolved(given)).got).toEqual([TUNED]);
    expect(askedFor()).toEqual([[keyOf(9)]]);
    const lock = await acquireMeasuringLock(given.surroundings, 0);
    expect(lock).not.toBeNull();
    lock!.release();
  });
  test('without a survey, written operations are tuned', async () => {
    tuned([8]);
    const { got, now } = await resolved(becoming(null));
    expect(got).toEqual([TUNED]);
    expect(now.input.surveyed).toBe(false);
  });

  test('while another process measures there is no survey, but its new records are used', async () => {
    const given = becoming(9, { budgetSeconds: 0.01 });
    const lock = await acquireMeasuringLock(given.surroundings, 0);
    expect(lock).not.toBeNull();
    try {
      const { got, isFinal } = await resolved(given);
      expect({ got, isFinal }).toEqual({ got: [['default', BUSY.reason]], isFinal: false });
      const store = storeWith([8]);
      vi.spyOn(store, 'findRecords').mockReturnValueOnce([]);
      expect((await resolved({ store, ...given })).got).toEqual([HIT]);
    } finally {
      lock!.release();
    }
    expect(tuner).not.toHaveBeenCalled();
  });
  test('a survey is made once', async () => {
    const { surroundings, input } = becoming(9);
    const first = await withSurvey({ command, inspected: { input, site: here } }, surroundings);
    expect(first.inspected.input).toMatchObject({ surveyed: true, operations: [{ key: keyOf(9) }] });
    expect(await withSurvey(first, surroundings)).toBe(first);
  });
  test('there is no survey with a preprocessing spec of the user', async () => {
    const { surroundings, input } = becoming(9);
    const own = { ...input, reading: { ...input.reading, ownPreprocessing: true } };
    const program = { command, inspected: { input: own, site: here } };
    expect(await withSurvey(program, surroundings)).toBe(program);
  });
});
