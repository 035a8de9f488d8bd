// Builds for another machine, records of machines of the same class, and databases on network disks.
// In full after a change of src/cli/device.ts, src/decision/for-device.ts, src/decision/same-class.ts.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { casesOfTier } from '../support/needs.ts';
import { deviceClass, type Device } from '../../src/backend/device.ts';
import { describeDevice } from '../../src/backend/llvm-cpu/cpu.ts';
import { TILE } from '../store/samples.ts';
import { expectStockBuild, recordedWorkplace } from './faults/support.ts';
import { decisionsOf, HOST, oddMatmul, rowsOf, Workplace, argv } from './support.ts';

const KEY = 'Another CPU (25/17/2) local-sync threads=1';

/** Moves all records to another device. */
function moveRecords(place: Workplace, change: Partial<Device> = {}): void {
  const here = JSON.parse(JSON.stringify(describeDevice('local-sync'))) as Device;
  place.inDatabase((database) =>
    database
      .prepare('UPDATE device SET key = ?, form = ?, own = NULL')
      .run(KEY, JSON.stringify({ ...here, model: 'Another CPU (25/17/2)', ...change })),
  );
}

const tuned = (place: Workplace, ...args: string[]) => place.tuned(args);
const devicesOf = (place: Workplace, ...args: string[]) =>
  place.asked<Record<string, unknown>[]>(['device', 'ls', ...args, '--json']);

/** The decision about the only operation of a build. */
const built = async (place: Workplace, env: Record<string, string> = {}) => {
  const explanation = await place.built(argv, { env });
  const [operation] = explanation.operations;
  const { outcome, code, reason } = operation!;
  return { outcome, code, reason, device: explanation.device as Device };
};

describe('a build for another device', () => {
  test('uses the records of that device, and measures nothing', async () => {
    const place = await recordedWorkplace({ IREE_TUNED_BUDGET: '60' });
    moveRecords(place, { threads: 3, processor: undefined });
    expect(await tuned(place, 'device', 'name', 'prod', 'Another')).toMatchObject({
      code: 0,
      stdout: `prod is now ${KEY}\n`,
    });
    const { compiler, ran } = place.watchedTools();
    const env = { IREE_TUNED_COMPILER: compiler, IREE_TUNED_FOR_DEVICE: 'prod' };
    const got = await built(place, env);
    expect(got).toMatchObject({ outcome: 'hit', reason: '1.83x faster than the default' });
    expect(got.device).toMatchObject({ model: 'Another CPU (25/17/2)', threads: 3 });
    for (const asked of casesOfTier([KEY, 'prod'], 1))
      expect(await built(place, { ...env, IREE_TUNED_FOR_DEVICE: asked })).toMatchObject({ outcome: 'hit' });
    expect(ran().filter((line) => !line.startsWith('iree-compile'))).toEqual([]);
    expect(['trial', 'undecided', 'miss'].map((name) => rowsOf(place, name))).toEqual([0, 0, 0]);
  });

  test(
    'notes its misses for that device with on-miss=record, and is replayed otherwise',
    { tags: 'full' },
    async () => {
      const place = await recordedWorkplace({ IREE_TUNED_BUDGET: '60' });
      moveRecords(place, { processor: undefined });
      await tuned(place, 'device', 'name', 'prod', KEY);
      place.inDatabase((database) => database.exec('DELETE FROM claim'));
      const { compiler, ran } = place.watchedTools();
      const env = { IREE_TUNED_COMPILER: compiler, IREE_TUNED_FOR_DEVICE: 'prod' };
      expect(await built(place, env)).toMatchObject({ outcome: 'default', code: 'other-device' });
      expect(rowsOf(place, 'miss')).toBe(0);
      expect(await built(place, { ...env, IREE_TUNED_ON_MISS: 'record' })).toMatchObject({
        outcome: 'default',
      });
      const missed = place.columnOf(
        'SELECT d.key FROM miss JOIN subject AS s ON s.id = miss.subject JOIN device AS d ON d.id = s.device',
      );
      expect(missed).toEqual([KEY]);
      expect(ran().filter((line) => !line.startsWith('iree-compile'))).toEqual([]);
    },
  );

  test('with an unknown name is the stock build, and the log lists the names', { tags: 'full' }, async () => {
    const place = await recordedWorkplace();
    await tuned(place, 'device', 'name', 'prod');
    const { operations } = await expectStockBuild(place, {
      IREE_TUNED_FOR_DEVICE: 'prdo',
      IREE_TUNED_LOG: 'log.txt',
    });
    const message =
      'for-device=prdo is no device of the tuning database; it knows prod: iree-tuned device ls lists them, and iree-tuned device name names one';
    expect(operations).toMatchObject([{ outcome: 'default', reason: message }]);
    expect(place.read('log.txt').toString()).toContain(`${message}; this build goes on without tuning`);
    expect(rowsOf(place, 'trial')).toBe(0);
    const { code, stdout } = await place.tuned(['doctor'], { env: { IREE_TUNED_FOR_DEVICE: 'prdo' } });
    expect(code).toBe(1);
    expect(stdout).toMatch(/^BAD {2}for-device prdo\n {16}-> for-device=prdo is no device/m);
  });

  test('on the same device is a normal build', { tags: 'full' }, async () => {
    const place = await recordedWorkplace();
    expect(await tuned(place, 'device', 'name', 'prod')).toMatchObject({ code: 0 });
    expect(await built(place, { IREE_TUNED_FOR_DEVICE: 'prod' })).toMatchObject({ outcome: 'hit' });
    const said = await tuned(place, 'doctor');
    expect(said.stdout).toMatch(/^ {16}name prod$/m);
  });
});

const others: [string, readonly string[]][] = [
  ['llvm-cpu', argv],
  ['cuda', ['--iree-hal-target-device=cuda', 'in.mlir', '-o', 'out.vmfb']],
];
test.each(casesOfTier(others, 1))('a build for %s refuses a device of another backend', async (_, own) => {
  const place = new Workplace();
  place.write('in.mlir', oddMatmul);
  const { explanation } = await place.explain(own, { env: { IREE_TUNED_DEVICE: 'vulkan' } });
  expect(explanation).toMatchObject({
    device: { model: 'unknown', driver: 'vulkan' },
    operations: [{ code: 'device-unsuitable' }],
  });
});

test('a build for a GPU that is missing keeps the default', async () => {
  const place = new Workplace();
  place.write('in.mlir', oddMatmul);
  const env = { IREE_TUNED_DEVICE: undefined, CUDA_VISIBLE_DEVICES: '' };
  const { explanation } = await place.explain(['--iree-hal-target-device=cuda', ...argv.slice(HOST.length)], {
    env,
  });
  expect(decisionsOf(explanation)).toEqual(['default: device-missing']);
});

describe.runIf(deviceClass(describeDevice('local-sync')) !== null)('a record of the same class', () => {
  test('is used without measuring only with trust=class, and the reason has the device', async () => {
    const place = await recordedWorkplace({ IREE_TUNED_BUDGET: '0' });
    moveRecords(place);
    expect(await built(place)).toMatchObject({ outcome: 'default' });
    const reason = `1.83x faster than the default, measured on ${KEY}, a device of the same class`;
    expect(await built(place, { IREE_TUNED_TRUST: 'class' })).toMatchObject({ outcome: 'hit', reason });
    // A record of another class is not trusted.
    moveRecords(place, { threads: 2 });
    expect(await built(place, { IREE_TUNED_TRUST: 'class' })).toMatchObject({ outcome: 'default' });
    expect(await devicesOf(place, KEY)).toMatchObject([{ key: KEY, records: 1, here: false }]);
  });

  test(
    'is verified if measuring is allowed, and becomes a record of this device',
    { tags: 'full' },
    async () => {
      const place = await recordedWorkplace({}, (env) => Workplace.simulated(env, { programs: 'failing' }));
      const build = () => place.explain(argv);
      moveRecords(place);
      const verified = await build();
      expect(verified.explanation.operations).toMatchObject([{ outcome: 'tuned', configuration: TILE }]);
      // Two trials: the default and the record's configuration. There is no search.
      expect(rowsOf(place, 'trial')).toBe(2);
      expect((await devicesOf(place)).map(({ records }) => records)).toEqual([1, 1]);
      expect((await build()).explanation.operations).toMatchObject([
        { outcome: 'hit', reason: expect.not.stringContaining('measured on') as string },
      ]);
      expect(rowsOf(place, 'trial')).toBe(2);
    },
  );
});

describe('iree-tuned device', () => {
  test('lists what the database knows', { tags: 'full' }, async () => {
    const place = await recordedWorkplace();
    const [device] = await devicesOf(place);
    expect(device).toEqual({
      key: expect.stringContaining('local-sync threads=1') as string,
      class: deviceClass(describeDevice('local-sync')),
      name: null,
      here: true,
      records: 1,
      lastSeen: '2026-01-31T08:00:00.000Z',
    });
    expect((await tuned(place, 'device', 'name', 'ci-box')).code).toBe(0);
    const listed = await tuned(place, 'device', 'ls');
    expect(listed.stdout).toMatch(
      /^name +records +last seen +key +class\nci-box +1 +2026-01-31 +.* \(this machine\)/,
    );
    expect((await tuned(place, 'device', 'ls', 'ci-box')).stdout).toBe(listed.stdout);
    expect((await tuned(place, 'device', 'ls', 'nowhere')).stdout).toMatch(/^No devices like "nowhere" in /);
  });
  test('moves a name to another device, and prints the device without a name', { tags: 'full' }, async () => {
    const place = await recordedWorkplace();
    moveRecords(place);
    await tuned(place, 'device', 'name', 'prod', KEY);
    const { stdout } = await tuned(place, 'device', 'name', 'prod');
    expect(stdout).toMatch(/^prod is now .*\nAnother CPU .* has lost its name\n$/);
    expect((await devicesOf(place)).map(({ name, here }) => [name, here])).toEqual(
      expect.arrayContaining([
        ['prod', true],
        [null, false],
      ]),
    );
  });
  test('refuses an invalid name, and lists the devices of an ambiguous text', { tags: 'full' }, async () => {
    const place = await recordedWorkplace();
    await tuned(place, 'device', 'name', 'here');
    place.inDatabase((database) =>
      database.exec(`INSERT INTO device (key, form) VALUES ('A CPU 1', '{}'), ('A CPU 2\u001b[2J', '{}')`),
    );
    for (const [args, message, ends] of [
      [['a b'], /^iree-tuned: a b is not a valid device name: use up to 64 letters/, 2],
      [['x', 'nowhere'], /^iree-tuned: no device matches "nowhere"/, 1],
      [
        ['x', 'A CPU'],
        /^iree-tuned: "A CPU" matches 2 devices: .*\n {2}A CPU 1\n {2}A CPU 2<U\+001B>\[2J\n$/,
        1,
      ],
    ] as const) {
      const { code, stdout, stderr } = await tuned(place, 'device', 'name', ...args);
      expect({ code, stdout }).toEqual({ code: ends, stdout: '' });
      expect(stderr).toMatch(message);
    }
  });
});

describe.runIf(process.platform === 'linux')('a database on a network disk', () => {
  /** An environment in which the folder `data` is on NFS. */
  function onNetwork(place: Workplace): Record<string, string> {
    place.write(
      'disks.cjs',
      `const fs = require('node:fs');
const { statfsSync } = fs;
fs.statfsSync = (path, ...rest) => ({
  ...statfsSync(path, ...rest),
  ...(String(path).includes('/data') && { type: 0x6969 }),
});
require('node:module').syncBuiltinESMExports();
`,
    );
    return { NODE_OPTIONS: `--require=${place.path('disks.cjs')}`, IREE_TUNED_LOG: 'log.txt' };
  }

  test('is read by builds, and each build has one message that it writes nothing', async () => {
    const place = await recordedWorkplace();
    const env = onNetwork(place);
    const before = readFileSync(place.database);
    expect(await built(place, env)).toMatchObject({ outcome: 'hit' });
    const log = place.read('log.txt').toString();
    expect(log.match(/is on a network disk \(NFS\)/g)).toHaveLength(1);
    expect(log).toMatch(/IREE_TUNED_DB .* export and import/);
    expect(readFileSync(place.database).equals(before)).toBe(true);
  });
  test('tunes no miss, with any setting', async () => {
    const place = await recordedWorkplace({ IREE_TUNED_BUDGET: '60' });
    place.inDatabase((database) => database.exec('DELETE FROM claim'));
    for (const onMiss of ['tune', 'record'])
      expect(await built(place, { ...onNetwork(place), IREE_TUNED_ON_MISS: onMiss })).toMatchObject({
        outcome: 'default',
        code: onMiss === 'tune' ? 'read-only' : 'tuning-off',
      });
    expect(['trial', 'miss'].map((name) => rowsOf(place, name))).toEqual([0, 0]);
  });
  test('that is missing gives stock builds', async () => {
    const place = await recordedWorkplace();
    place.remove('data/tuning.db');
    const { operations } = await expectStockBuild(place, onNetwork(place));
    expect(operations[0]!.reason).toMatch(/^no tuning database: .* is on a network disk \(NFS\)/);
    expect(place.has('data/tuning.db')).toBe(false);
  });
  test('allows replays like any other database', { tags: 'full' }, async () => {
    const place = await recordedWorkplace();
    const { NODE_OPTIONS } = onNetwork(place);
    const { compiler, ran } = place.watchedTools();
    const build = async () => {
      const env = { NODE_OPTIONS, IREE_TUNED_COMPILER: compiler, IREE_TUNED_OUTPUTS: 'off' };
      const result = await place.compile(argv, { env });
      expect(result).toMatchObject({ code: 0, stderr: '' });
      return ran().length;
    };
    expect(await build()).toBeGreaterThan(1);
    expect(await build()).toBe(1);
  });
  test('is read by listings, and refused by commands that write', { tags: 'full' }, async () => {
    const place = await recordedWorkplace();
    const env = onNetwork(place);
    const run = (...args: string[]) => place.tuned(args, { env });
    for (const args of [['db', 'ls'], ['device', 'ls'], ['stats'], ['db', 'show', 'contraction']]) {
      const { code, stderr } = await run(...args);
      expect({ args, code, stderr }).toEqual({ args, code: 0, stderr: '' });
    }
    for (const args of [
      ['device', 'name', 'x'],
      ['tune', join(place.folder, 'in.mlir')],
    ]) {
      const { code, stdout, stderr } = await run(...args);
      expect({ args, code, stdout }).toEqual({ args, code: 1, stdout: '' });
      expect(stderr).toMatch(/^iree-tuned: tuning database .* is on a network disk \(NFS\).*\n$/);
    }
    const { code, stdout } = await run('doctor');
    expect(code).toBe(1);
    expect(stdout).toMatch(
      /^BAD {2}database .* 1 record, on NFS\n {16}-> tuning database .* export and import; it is read-only now$/m,
    );
  });
});
