// Entries of a lock file, without a compiler: the ledger has the proofs.
import { describe, expect, test } from 'vitest';
import { configurationText } from '../../src/backend/index.ts';
import type { Configuration, OwnConfiguration } from '../../src/backend/configuration.ts';
import { DEFAULT_RECORD } from '../decision/lock/support.ts';
import type { Evidence, Store } from '../../src/store/store.ts';
import { lookUp } from '../../src/decision/look-up.ts';
import { decideAll, overrideOf } from '../../src/decision/lock/find.ts';
import {
  EMPTY_LOCK,
  lockText,
  parseLock,
  type LockedProgram,
  type LockedWorkload,
} from '../../src/decision/lock/lock.ts';
import { ROUTES, type Route } from '../../src/settings/settings.ts';
import { consultLock } from '../../src/wrapper/locked.ts';
import { lockedProgram } from '../../src/wrapper/locking.ts';
import { updateLock } from '../../src/decision/lock/file.ts';
import { notePlan, planIdentity } from '../../src/plan/ledger.ts';
import { programMemory, type ProgramMemory } from '../../src/running/variants/memory.ts';
import { programOf } from '../../src/running/program-notes.ts';
import {
  aboutMatmul,
  here as site,
  input as inputOfSizes,
  keyOf,
  settings,
  storeWith,
} from '../decision/support.ts';
import { MARK, open, temporaryPath, TILE } from '../store/support.ts';
import { commandOf, surroundingsOf } from '../support/inspected.ts';
import { because } from '../../src/system/reason.ts';

const command = commandOf('in.mlir', '-o', 'out.vmfb');
// Digests in lock files are hexadecimal.
const input = { ...inputOfSizes(256, 512), digest: 'a'.repeat(32) };
const inspected = { input, site };
const OTHER = { ...TILE, peeling: false };
const WORSE = 'its configuration makes this program worse: it takes 2 ms';
const DATA_TILE: OwnConfiguration = { version: 1, kind: 'data-tile' };

/** A database with these configurations, by the number of rows. */
const stored = (records: Readonly<Record<number, Configuration>>, evidence: Partial<Evidence> = {}): Store =>
  storeWith(
    ...Object.entries(records).map(([m, configuration]) => [Number(m), { configuration, evidence }] as const),
  );

const identity = await programOf(command, inspected, null, surroundingsOf());

/** A machine whose ledger has plans that landed by these routes. */
function machine({
  lost = [],
  memory = {},
}: { lost?: readonly Route[]; memory?: Partial<ProgramMemory> } = {}) {
  const surroundings = surroundingsOf();
  const { cacheDirectory } = surroundings;
  return {
    surroundings,
    /** Locks a program with these workloads. */
    async lock(
      store: Store | null,
      before: LockedProgram | null,
      compiled: Readonly<Record<number, Configuration>>,
    ) {
      if (store !== null && Object.keys(memory).length > 0) {
        const nothing = { leftOut: [], verified: null, programWide: null, open: null };
        programMemory.remember(store, identity, { ...nothing, ...memory });
      }
      const workloads = new Map(
        Object.entries(compiled).map(([m, configuration]): [string, LockedWorkload] => [
          keyOf(Number(m)),
          { kind: 'record', configuration, speedup: { ratio: 2, low: 2, high: 2 } },
        ]),
      );
      const decisions = decideAll(input.operations, overrideOf(workloads), because('no-record'));
      for (const route of ROUTES)
        notePlan(cacheDirectory, planIdentity(command, input.digest, decisions, route), {
          landed: decisions.map(({ configuration }) =>
            configuration === null ? null : !lost.includes(route),
          ),
        });
      const lock = before === null ? EMPTY_LOCK : { programs: [before] };
      const made = await lockedProgram(
        { inspected, command, store, lock, path: 'iree-tuned.lock' },
        surroundings,
      );
      // Every entry can be written and read again.
      const [read] = parseLock(lockText({ programs: [made] })).programs;
      expect(read).toEqual({ ...made, workloads: read!.workloads });
      expect(Object.fromEntries(read!.workloads)).toEqual(Object.fromEntries(made.workloads));
      return made;
    },
  };
}

const kinds = ({ workloads }: LockedProgram) => [256, 512].map((m) => workloads.get(keyOf(m))?.kind);

test('records are locked with their rounded speed-up, workloads without a record are locked as unknown', async () => {
  const store = stored({ 256: TILE }, { ratio: 1.83456, low: 1.78911, high: 1.88888 });
  const made = await machine().lock(store, null, { 256: TILE });
  expect(made).toMatchObject({
    ...{ program: 'in.mlir', digest: input.digest, compiler: site.compiler.key, target: site.target.key },
    ...{ flags: [], inject: 'auto', dim: '', route: 'spec', surveyed: false },
  });
  expect(Object.fromEntries(made.workloads)).toEqual({
    [keyOf(256)]: {
      kind: 'record',
      configuration: TILE,
      speedup: { ratio: 1.835, low: 1.789, high: 1.889 },
    },
    [keyOf(512)]: { kind: 'unknown', because: 'there was no record' },
  });
  const best = stored({ 256: { version: 1, kind: 'default' } }, { ratio: 1, low: 1, high: 1 });
  const none = await machine().lock(best, null, {});
  expect(none.route).toBe('none');
  expect(none.workloads.get(keyOf(256))).toEqual(DEFAULT_RECORD);
});

test('the smallest gain is not rounded away', async () => {
  const evidence = { ratio: 1.0003, low: 1.0001, high: 1.0007 };
  const { workloads } = await machine().lock(stored({ 256: TILE }, evidence), null, { 256: TILE });
  expect(workloads.get(keyOf(256))).toMatchObject({ speedup: evidence });
});

test('the route is the first route by which every configuration landed', async () => {
  const store = stored({ 256: TILE });
  const { route } = await machine({ lost: ['spec', 'preprocess'] }).lock(store, null, { 256: TILE });
  expect(route).toBe('inline');
});

test('left-out and program-wide configurations are locked with their kind', async () => {
  const leftOut = [{ workload: keyOf(256), configuration: configurationText(TILE), reason: WORSE }];
  const programWide = {
    offers: [],
    chosen: [{ workload: keyOf(512), configuration: DATA_TILE }],
    reason: 'data tiling makes it faster',
    budgetSeconds: null,
  };
  const made = await machine({ memory: { leftOut, programWide } }).lock(
    stored({ 256: TILE, 512: OTHER }),
    null,
    {
      512: DATA_TILE,
    },
  );
  expect(made.route).toBe('preprocess');
  expect([...made.workloads.values()]).toEqual([
    { kind: 'left-out', configuration: TILE, because: WORSE },
    { kind: 'program', configuration: DATA_TILE, because: programWide.reason },
  ]);
  // An entry stays on a machine without a verdict on the program.
  for (const store of [null, stored({ 256: TILE })])
    expect(await machine().lock(store, made, {})).toEqual(made);
  // Another configuration replaces it.
  expect(kinds(await machine().lock(stored({ 256: OTHER }), made, { 256: OTHER, 512: DATA_TILE }))).toEqual([
    'record',
    'program',
  ]);
  // A new verdict replaces it.
  const heard = { verified: 'some set' };
  expect(
    kinds(await machine({ memory: heard }).lock(stored({ 256: TILE }), made, { 256: TILE, 512: DATA_TILE })),
  ).toEqual(['record', 'program']);
});

describe('an entry stays on a machine without records', () => {
  const locked = async () =>
    machine({ lost: ['spec'] }).lock(stored({ 256: TILE, 512: OTHER }), null, { 256: TILE, 512: OTHER });
  test('with its route, which another machine has proven', async () => {
    const before = await locked();
    expect(before.route).toBe('preprocess');
    expect(await machine().lock(null, before, { 256: TILE, 512: OTHER })).toEqual(before);
    expect(await machine().lock(open(temporaryPath()), before, {})).toEqual(before);
  });
  test('for another text of the program', async () => {
    const before = { ...(await locked()), digest: 'b'.repeat(32) };
    const made = await machine().lock(null, before, { 256: TILE, 512: OTHER });
    expect(made).toMatchObject({ digest: input.digest, route: 'spec' });
    expect(made.workloads).toEqual(before.workloads);
  });
  test('but not for another compiler, and not with a mark on this machine', async () => {
    const before = await locked();
    const old = { ...before, compiler: '3.12.0@aaaaaaaaaa' };
    expect(kinds(await machine().lock(null, old, {}))).toEqual(['unknown', 'unknown']);
    const store = stored({ 256: TILE });
    store.addMarks(aboutMatmul(256), [MARK]);
    expect(lookUp(store, input, site, settings).marked.size).toBe(1);
    expect(kinds(await machine().lock(store, before, { 512: OTHER }))).toEqual(['unknown', 'record']);
  });
});

test('a build gets the locked configurations by the locked route', async () => {
  const made = await machine({ lost: ['spec'] }).lock(stored({ 256: TILE, 512: OTHER }), null, {
    256: TILE,
    512: OTHER,
  });
  const path = temporaryPath();
  const surroundings = { ...surroundingsOf({ lock: path }) };
  await updateLock(path, surroundings.cacheDirectory, () => ({ programs: [made] }));
  const { whole, lock } = await consultLock({ command, inspected }, surroundings);
  expect(lock.problem).toBeNull();
  expect(whole).toMatchObject({
    injection: { route: 'preprocess' },
    decisions: [{ configuration: TILE }, { configuration: OTHER }],
  });
});

test('a configuration that breaks the compile is not locked, and the message says the way out', async () => {
  const here = machine();
  const { surroundings } = here;
  const made = await here.lock(stored({ 256: TILE }), null, { 256: TILE });
  const decisions = decideAll(input.operations, overrideOf(made.workloads), because('no-record'));
  notePlan(surroundings.cacheDirectory, planIdentity(command, input.digest, decisions, 'spec'), {
    reason: 'an error',
  });
  await expect(
    lockedProgram(
      { inspected, command, store: stored({ 256: TILE }), lock: EMPTY_LOCK, path: 'iree-tuned.lock' },
      surroundings,
    ),
  ).rejects.toThrow(
    /^the compiler fails with the configurations to lock: build the program with iree-compile-tuned/,
  );
});

test('a program without a file has no name in a lock file', async () => {
  const piped = {
    inspected,
    command: commandOf('-'),
    store: null,
    lock: EMPTY_LOCK,
    path: 'iree-tuned.lock',
  };
  await expect(lockedProgram(piped, surroundingsOf())).rejects.toThrow(/names programs by their files/);
});
