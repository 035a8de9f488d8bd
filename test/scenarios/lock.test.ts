// A lock file: a second machine compiles the same bytes as the first machine from the lock file alone.
// In full after a change of src/decision/lock, src/cli/lock.ts.
import { cpSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { casesOfTier } from '../support/needs.ts';
import type { Configuration } from '../../src/backend/configuration.ts';
import { TILE } from '../store/samples.ts';
import { ODD_TILES, STRIDED_TILES } from '../support/backend.ts';
import { misbehavingCompiler, record, recordedWorkplace } from './faults/support.ts';
import type { ProgramKey } from '../../src/decision/lock/lock.ts';
import type { Replay } from '../../src/wrapper/replay.ts';
import { GENERIC_PRODUCT, STRIDED_PROGRAM, turned } from './programs.ts';
import { decisionsOf, HOST, matmulModule, oddMatmul, Workplace, argv } from './support.ts';

const LOCK = 'iree-tuned.lock';
/** The summary of the locked place. */
const ONE = '1 program with 1 workload: 1 tuned';
const NO_TUNING = { IREE_TUNED_ON_MISS: 'record' };

const lock = (place: Workplace, args: readonly string[] = ['in.mlir', '--', ...HOST], env = {}) =>
  place.tuned(['lock', ...args], { env });

/** The place of another user on another machine, with the files of the repository alone. */
function elsewhere(from: Workplace, env: Readonly<Record<string, string>> = {}): Workplace {
  const place = new Workplace(env);
  for (const name of ['in.mlir', LOCK]) place.write(name, from.read(name));
  return place;
}

const isStrided = (workload: string) => / in=[0-9a-f]{16}$/.test(workload);

describe('a build from the lock file alone gives the bytes of the locked build', { timeout: 600_000 }, () => {
  const builds: [string, string, string, (workload: string) => Configuration | null][] = [
    ['spec', oddMatmul, 'auto', () => TILE],
    ['substitute', STRIDED_PROGRAM, 'auto', (workload) => (isStrided(workload) ? STRIDED_TILES : null)],
    ['preprocess', oddMatmul, 'auto', () => ({ version: 1, kind: 'data-tile' })],
    ['inline', oddMatmul, 'inline', () => TILE],
    ['none', oddMatmul, 'auto', () => ({ version: 1, kind: 'default' })],
    ['substitute', oddMatmul, 'substitute', () => TILE],
    ['spec', turned(GENERIC_PRODUCT), 'auto', () => ODD_TILES],
  ];
  test.each(casesOfTier(builds, 1))('by %s', async (route, text, inject, choose) => {
    const env = { IREE_TUNED_INJECT: inject };
    const origin = new Workplace(env);
    origin.write('in.mlir', text);
    await record(origin, choose);
    const built = await origin.explain(argv, { env: { IREE_TUNED_BUDGET: '0' } });
    expect(built).toMatchObject({ code: 0, explanation: { route, lock: null } });
    const module = origin.read('out.vmfb');
    const written = await lock(origin);
    expect(written).toMatchObject({ code: 0, stderr: '' });
    expect(origin.read(LOCK).toString()).not.toMatch(/\/(?:tmp|root|home)\//);
    // The compiler generates the operation that is locked.
    if (text !== oddMatmul) expect(origin.read(LOCK).toString()).toContain('"surveyed": true');

    const place = elsewhere(origin, env);
    const watched = place.watchedTools();
    const own = { IREE_TUNED_COMPILER: watched.compiler, IREE_TUNED_OUTPUTS: 'off' };
    const explanation = await place.built(argv, { env: own });
    expect(place.read('out.vmfb').equals(module)).toBe(true);
    expect(watched.ran().filter((line) => !line.startsWith('iree-compile '))).toEqual([]);
    expect(explanation).toMatchObject({
      ...{ route, lock: { used: true, problem: null }, seconds: { tuning: 0 } },
    });
    for (const { outcome, code } of explanation.operations)
      if (outcome === 'hit') expect(code).toBe('locked');
    watched.ran();
    expect(await place.compile(argv, { env: own })).toMatchObject({ code: 0, stderr: '' });
    expect(watched.ran()).toHaveLength(1);
    expect(place.read('out.vmfb').equals(module)).toBe(true);
    expect(place.has('data')).toBe(false);
    expect(await place.isStock()).toBe(route === 'none');
  });
});

/** A compiler of another version, with the same output. */
const otherCompiler = (place: Workplace) =>
  misbehavingCompiler(place, '--version', `echo 'IREE compiler version 3.99.0 @ ${'a'.repeat(40)}'; exit`);

/** A place with a lock file. */
let origin: Workplace;
beforeAll(async () => {
  origin = await recordedWorkplace();
  expect(await lock(origin)).toMatchObject({ code: 0, stderr: '' });
});

const LOCKED = 'hit: locked';
const [UNTUNED, FROZEN] = ['default: tuning-off', 'default: frozen'];

describe('a program that has changed', () => {
  test('keeps its locked configurations if all its matmuls are locked, with a message', async () => {
    const place = elsewhere(origin);
    place.write('in.mlir', `// Another text.\n${oddMatmul}`);
    const build = await place.explain(argv);
    expect(decisionsOf(build.explanation)).toEqual([LOCKED]);
    expect(build.stderr).toBe('');
    expect(build.explanation.lock).toEqual({
      path: place.path(LOCK),
      used: true,
      problem: `in.mlir differs from its entry in the lock file ${place.path(LOCK)}: its text has changed; iree-tuned lock updates it; this build uses the locked configuration of each workload`,
    });
    expect(place.has('data')).toBe(false);
  });

  test('uses the database for workloads that are not locked', { tags: 'full' }, async () => {
    const place = elsewhere(origin, NO_TUNING);
    place.write('in.mlir', oddMatmul + matmulModule(16, 32, 64).replace('@main', '@more'));
    const build = await place.explain(argv);
    expect(decisionsOf(build.explanation)).toEqual([LOCKED, UNTUNED]);
    expect(build.explanation.lock).toMatchObject({ used: false });
    const missed = place.inStore((store) => store.misses().map(({ workload }) => workload));
    expect(missed).toEqual([expect.stringContaining(' m=16 ')]);
  });

  test(
    'gets the default for workloads that are not locked if the file is frozen',
    { tags: 'full' },
    async () => {
      const place = elsewhere(origin, { IREE_TUNED_FROZEN: '1' });
      place.write('in.mlir', oddMatmul + matmulModule(16, 32, 64).replace('@main', '@more'));
      const build = await place.explain(argv, { env: { IREE_TUNED_LOG: 'log' } });
      expect(decisionsOf(build.explanation)).toEqual([LOCKED, FROZEN]);
      expect(place.read('log').toString()).toMatch(
        / in\.mlir differs from its entry in .*; iree-tuned lock updates it; 1 workload is left to the default \(frozen\)\n/,
      );
      expect(place.has('data')).toBe(false);
      place.write('other.mlir', matmulModule(16, 32, 64));
      const other = await place.explain([...HOST, 'other.mlir', '-o', 'out.vmfb']);
      expect(decisionsOf(other.explanation)).toEqual([FROZEN]);
      expect(other.explanation.lock!.problem).toMatch(
        /^other\.mlir is not in the lock file .*; iree-tuned lock other\.mlir -- FLAGS adds it; 1 workload is left/,
      );
    },
  );

  test('is built without the lock file by another compiler, with a message', async () => {
    const place = elsewhere(origin, NO_TUNING);
    const env = otherCompiler(place);
    const build = await place.explain(argv, { env });
    expect(decisionsOf(build.explanation)).toEqual([UNTUNED]);
    expect(build.explanation.lock!.problem).toContain('the compiler is 3.99.0@aaaaaaaaaa instead of 3.');
    const frozen = await place.explain(argv, { env: { ...env, IREE_TUNED_FROZEN: '1' } });
    expect(decisionsOf(frozen.explanation)).toEqual([FROZEN]);
  });
});

describe('a lock file of several compilers', () => {
  test('keeps the entries of one compiler when another updates it, and serves the builds of both', async () => {
    const place = elsewhere(origin, { IREE_TUNED_FROZEN: '1' });
    const before = place.read(LOCK).toString();
    const env = otherCompiler(place);
    expect((await lock(place, ['--check'], env)).stdout).toMatch(
      /^\+ in\.mlir: llvm-cpu .*, compiler 3\.99\.0@aaaaaaaaaa\niree-tuned\.lock is not up to date/,
    );
    expect(await lock(place, [], env)).toMatchObject({ code: 0, stderr: '' });
    const both = place.read(LOCK).toString();
    // The entry has the same lines as before.
    expect(both).toContain(before.slice(before.indexOf('    {'), before.indexOf('\n  ],')));
    for (const compiler of [{}, env]) {
      expect(await lock(place, ['--check'], compiler)).toMatchObject({ code: 0 });
      const build = await place.explain(argv, { env: compiler });
      expect(build.explanation.lock).toMatchObject({ used: true, problem: null });
    }
  });

  test(
    'loses the entries of an old compiler on demand, and never those of the compiler at hand',
    { tags: 'full' },
    async () => {
      const place = elsewhere(origin);
      const before = place.read(LOCK).toString();
      const env = otherCompiler(place);
      await lock(place, [], env);
      const both = place.read(LOCK).toString();
      // The key of each compiler has this text.
      const { code, stdout } = await lock(place, ['--without-compiler', '3.']);
      expect(code).toBe(0);
      expect(stdout).toMatch(
        /^- in\.mlir: llvm-cpu .*, compiler 3\.99\.0@aaaaaaaaaa\nWrote iree-tuned\.lock\.\n/,
      );
      expect(place.read(LOCK).toString()).toBe(before);
      // The entries of the compiler at hand stay even if another program is locked.
      place.write(LOCK, both);
      place.write('other.mlir', matmulModule(16, 32, 64));
      await lock(place, ['other.mlir', '--without-compiler', '3.', '--', ...HOST], env);
      const { programs } = JSON.parse(place.read(LOCK).toString()) as { programs: ProgramKey[] };
      expect(programs.map(({ compiler }) => compiler)).toEqual(Array(2).fill('3.99.0@aaaaaaaaaa'));
    },
  );
});

describe('a lock file that cannot be used', () => {
  test('because it is damaged gives a message, and the build goes on without it', async () => {
    const place = elsewhere(origin, NO_TUNING);
    const text = origin.read(LOCK).toString().slice(0, 200);
    place.write(LOCK, text);
    const build = await place.built(argv);
    expect(decisionsOf(build)).toEqual([UNTUNED]);
    const why = `the lock file ${place.path(LOCK)} cannot be used: it is not JSON`;
    expect(build.lock!.problem).toContain(why);
    const frozen = await place.explain(argv, { env: { IREE_TUNED_FROZEN: '1' } });
    expect(decisionsOf(frozen.explanation)).toEqual([FROZEN]);
    expect(await place.isStock()).toBe(true);
    // The file stays unchanged.
    const relocked = await lock(place);
    expect(relocked.code).toBe(1);
    expect(relocked.stderr).toContain(why);
    expect(place.read(LOCK).toString()).toBe(text);
  });

  test('that is set and missing gives a message', async () => {
    const place = elsewhere(origin, { ...NO_TUNING, IREE_TUNED_LOCK: 'absent.lock' });
    const { explanation } = await place.explain(argv);
    expect(explanation.lock!.problem).toBe(
      'there is no lock file absent.lock; the database decides about workloads that are not locked',
    );
  });
});

describe('a replay', () => {
  const env = { IREE_TUNED_ON_MISS: 'default' };
  const build = async (place: Workplace) => {
    expect(await place.compile(argv, { env })).toMatchObject({ code: 0, stderr: '' });
    return place.read('out.vmfb');
  };

  test('depends on the lock file that appears, changes and vanishes', { tags: 'full' }, async () => {
    const place = elsewhere(origin);
    place.remove(LOCK);
    const stock = await build(place);
    await build(place);
    place.write(LOCK, origin.read(LOCK));
    const locked = await build(place);
    expect(locked.equals(stock)).toBe(false);
    expect((await build(place)).equals(locked)).toBe(true);
    const replays = () => readdirSync(place.path('cache/replays')).length;
    expect(replays()).toBe(2);
    const other = origin.read(LOCK).toString().replace('[64,128,0]', '[32,64,0]');
    place.write(LOCK, other);
    const changed = await build(place);
    expect(changed.equals(locked)).toBe(false);
    place.write(LOCK, '{}');
    expect((await build(place)).equals(stock)).toBe(true);
    place.remove(LOCK);
    expect((await build(place)).equals(stock)).toBe(true);
    place.write(LOCK, other);
    expect((await build(place)).equals(changed)).toBe(true);
  });

  test('does not depend on a database that decides nothing', { tags: 'full' }, async () => {
    const place = elsewhere(origin);
    const locked = await build(place);
    const before = readReplay(place);
    const { files } = JSON.parse(before) as Replay;
    expect(files.map(([path]) => path)).toContain(place.path(LOCK));
    expect(files.map(([path]) => path)).not.toContain(place.database);
    mkdirSync(dirname(place.database));
    cpSync(origin.database, place.database);
    expect((await build(place)).equals(locked)).toBe(true);
    expect(readReplay(place)).toBe(before);
  });

  const readReplay = (place: Workplace) => {
    const [name, ...others] = readdirSync(place.path('cache/replays'));
    expect(others).toEqual([]);
    const note = JSON.parse(readFileSync(place.path(`cache/replays/${name!}`), 'utf8')) as Replay;
    // A build that takes longer notes that its input has not changed for a while.
    return JSON.stringify({ ...note, settled: null });
  };
});

describe('iree-tuned lock', () => {
  test('changes nothing on a machine without records', { tags: 'full' }, async () => {
    const newcomer = elsewhere(origin);
    for (const args of [[], ['--check', 'in.mlir', '--', ...HOST]])
      expect(await lock(newcomer, args)).toEqual({
        code: 0,
        stdout: `${LOCK} is up to date.\n${ONE}\n`,
        stderr: '',
      });
    expect(newcomer.read(LOCK)).toEqual(origin.read(LOCK));
    expect(newcomer.has('data')).toBe(false);
  });

  test('reports differences with --check, and writes nothing', { tags: 'full' }, async () => {
    const place = elsewhere(origin);
    place.write('in.mlir', `// Another text.\n${oddMatmul}`);
    const text = place.read(LOCK).toString();
    const found = await lock(place, ['--check']);
    expect(found).toMatchObject({ code: 1, stderr: '' });
    expect(found.stdout).toMatch(
      /^~ in\.mlir: llvm-cpu .*\niree-tuned\.lock is not up to date: run iree-tuned lock\.\n1 program with 1 workload: 1 tuned\n$/,
    );
    expect(place.read(LOCK).toString()).toBe(text);
    place.write('other.mlir', matmulModule(16, 32, 64));
    const other = await lock(place, ['--check', 'other.mlir', '--', ...HOST]);
    expect(other.code).toBe(1);
    expect(other.stdout).toMatch(/^\+ other\.mlir: llvm-cpu .*\niree-tuned\.lock is not up to date/);
    // The file is up to date now.
    expect(await lock(place, [])).toMatchObject({ code: 0 });
    expect(await lock(place, ['--check'])).toMatchObject({ code: 0 });
    place.write(
      LOCK,
      place
        .read(LOCK)
        .toString()
        .replaceAll(/\n {2,}/g, '\n '),
    );
    expect(await lock(place, ['--check'])).toEqual({
      code: 1,
      stdout: `${LOCK} has the right content in another format: run iree-tuned lock.\n${ONE}\n`,
      stderr: '',
    });
  });

  test(
    'locks workloads without a record to the default, with a message, and removes workloads that are gone',
    { tags: 'full' },
    async () => {
      const place = elsewhere(origin, { IREE_TUNED_FROZEN: '1' });
      place.write('other.mlir', matmulModule(16, 32, 64));
      const { code, stdout } = await lock(place, ['other.mlir', '--', ...HOST]);
      expect(code).toBe(0);
      expect(stdout).toContain(
        '1 program with 1 workload: 1 left to the default\n  1 x there was no record\niree-tuned tune other.mlir tunes the workloads without a record.\n',
      );
      const build = await place.explain([...HOST, 'other.mlir', '-o', 'out.vmfb']);
      expect(decisionsOf(build.explanation)).toEqual(['default: locked']);
      expect(build.explanation.lock).toMatchObject({ used: true, problem: null });
      place.remove('other.mlir');
      const { stdout: gone } = await lock(place, ['--json']);
      const { changed, differences } = JSON.parse(gone) as {
        changed: boolean;
        differences: string[];
      };
      expect(changed).toBe(true);
      expect(differences).toEqual([expect.stringMatching(/^- other\.mlir: llvm-cpu /)]);
      expect(place.read(LOCK).toString()).toBe(origin.read(LOCK).toString());
    },
  );

  test('is shown by explain, and names programs that cannot be locked', { tags: 'full' }, async () => {
    const place = elsewhere(origin);
    expect(await place.said(['explain', 'in.mlir', '--', ...HOST])).toContain(
      'hit: locked: 1.83x faster than the default',
    );
    for (const [args, message, code] of [
      [['--', ...HOST], 'compiler flags need an input: iree-tuned lock INPUT -- FLAGS', 2],
      [['absent.mlir'], 'absent.mlir: the input cannot be read: there is no such file or folder', 1],
      [
        ['in.mlir', '--', ...HOST, '--iree-hal-executable-object-search-path=/models'],
        'in.mlir: --iree-hal-executable-object-search-path=/models: a lock file is for other machines, too: give a path relative to the working folder',
        1,
      ],
    ] as const)
      expect(await lock(place, args)).toEqual({ code, stdout: '', stderr: `iree-tuned: ${message}\n` });
    place.remove(LOCK);
    expect(await lock(place, [])).toEqual({
      code: 1,
      stdout: '',
      stderr: `iree-tuned: there is no lock file ${LOCK}: iree-tuned lock INPUT -- FLAGS writes one\n`,
    });
  });
});
