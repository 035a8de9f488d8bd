// Replays: a final compile is repeated without new decisions until something changes.
// In full after a change of src/wrapper/replay.ts.
import { execFileSync } from 'node:child_process';
import { readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import Database from 'better-sqlite3';
import { beforeAll, describe, expect, test } from 'vitest';
import { casesOfTier } from '../support/needs.ts';
import { misbehavingCompiler, record, recordedWorkplace, statistics } from './faults/support.ts';
import { HOST, oddMatmul, withoutMatmul, Workplace, WRAPPER } from './support.ts';

/** A workplace in which `in.mlir` has a record and was compiled twice, the second time with budget 0. */
async function tunedPlace(): Promise<Workplace> {
  const place = await recordedWorkplace();
  const argv = [...HOST, 'in.mlir', '-o', 'tuned.vmfb'];
  expect((await place.compile(argv)).code).toBe(0);
  await build(place, 'again');
  expect(place.read('again.vmfb').equals(place.read('tuned.vmfb'))).toBe(true);
  expect(await place.isStock('tuned.vmfb')).toBe(false);
  return place;
}

const env = { IREE_TUNED_BUDGET: '0' };

async function build(place: Workplace, name: string): Promise<Buffer> {
  const result = await place.compile([...HOST, 'in.mlir', '-o', 'out.vmfb'], { env });
  expect(result).toMatchObject({ code: 0, stdout: Buffer.alloc(0), stderr: '' });
  renameSync(place.path('out.vmfb'), place.path(`${name}.vmfb`));
  return place.read(`${name}.vmfb`);
}

/** Other content of the same size and time. */
function disguise(path: string, size: number): void {
  writeFileSync(`${path}.new`, Buffer.alloc(size, 'x'));
  execFileSync('touch', ['-r', path, `${path}.new`]);
  renameSync(`${path}.new`, path);
}

describe('a tuned compile', () => {
  let place: Workplace;
  beforeAll(async () => {
    place = await tunedPlace();
  }, 120_000);

  test('does not read the database again', async () => {
    const intact = place.read('data/tuning.db');
    disguise(place.database, intact.length);
    expect((await build(place, 'replayed')).equals(place.read('tuned.vmfb'))).toBe(true);
    writeFileSync(place.database, intact);
    expect((await build(place, 'looked-up')).equals(place.read('tuned.vmfb'))).toBe(true);
  });

  test('is decided again with another input', async () => {
    place.write('in.mlir', withoutMatmul);
    await place.stock([...HOST, 'in.mlir', '-o', 'other.vmfb']);
    expect((await build(place, 'changed')).equals(place.read('other.vmfb'))).toBe(true);
    place.write('in.mlir', oddMatmul);
    expect((await build(place, 'back')).equals(place.read('tuned.vmfb'))).toBe(true);
  });

  test('is decided again after its files are removed', async () => {
    for (const name of ['specs', 'plans']) {
      rmSync(place.path(`cache/${name}`), { recursive: true });
      expect((await build(place, name)).equals(place.read('tuned.vmfb'))).toBe(true);
    }
  });

  test('survives a damaged cache entry', async () => {
    const names = readdirSync(place.path('cache/replays'));
    expect(names).not.toEqual([]);
    for (const name of names) place.write(`cache/replays/${name}`, '{"identity":');
    expect((await build(place, 'damaged')).equals(place.read('tuned.vmfb'))).toBe(true);
  });

  test('is counted every time', async () => {
    const hits = async () => (await statistics(place)).operations.hit;
    const before = await hits();
    await build(place, 'first');
    await build(place, 'second');
    expect(await hits()).toBe(before + 2);
  });

  test('is replayed with an explanation, too, as the log of builds shows', async () => {
    const argv = [...HOST, 'in.mlir', '-o', 'out.vmfb'];
    const { compiler, ran } = place.watchedTools();
    const watched = { ...env, IREE_TUNED_COMPILER: compiler, IREE_TUNED_LOG: 'log' };
    await place.explain(argv, { env: watched });
    ran();
    const again = await place.explain(argv, { env: watched });
    expect(again).toMatchObject({ code: 0, stderr: '' });
    expect(again.explanation).toMatchObject({ route: 'spec', operations: [{ outcome: 'hit' }] });
    expect(ran()).toEqual([]);
    expect(place.read('log').toString().trim().split('\n')).toHaveLength(2);
    expect(await place.asked(['stats', '--last', '2', '--json'])).toMatchObject([
      { folder: place.folder, input: 'in.mlir', again: false, counts: { 'operations: hit': 1 } },
      { folder: place.folder, input: 'in.mlir', again: true, counts: { 'operations: hit': 1 } },
    ]);
    expect(await place.said(['stats', '--last', '1'])).toMatch(
      /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d {2}in\.mlir {2}spec, 1 hit, as before\n$/,
    );
  });

  test('is not replayed without its database', async () => {
    for (const end of ['', '-wal', '-shm']) rmSync(place.database + end, { force: true });
    expect((await build(place, 'forgotten')).equals(place.read('stock.vmfb'))).toBe(true);
  });
});

test('decisions from before a change of the database are not replayed', async () => {
  const place = await recordedWorkplace({ IREE_TUNED_BUDGET: '0' });
  const inCompile = '*--iree-codegen-tuning-spec-path=*';
  const env = misbehavingCompiler(place, inCompile, `touch '${place.database}'`);
  expect((await place.compile([...HOST, 'in.mlir', '-o', 'out.vmfb'], { env })).code).toBe(0);
  expect(place.has('cache/replays')).toBe(false);
  // The ledger has the plan by now, so nothing happens between decision and compile.
  expect((await place.compile([...HOST, 'in.mlir', '-o', 'out.vmfb'], { env })).code).toBe(0);
  expect(readdirSync(place.path('cache/replays'))).toHaveLength(1);
});

test.each([
  ['compiler', 'iree-compile'],
  ['linker', 'iree-lld'],
  ['file of a flag', 'objects'],
])('a build during which the %s is replaced is not remembered', { tags: 'full' }, async (_, file) => {
  const place = await recordedWorkplace({ IREE_TUNED_BUDGET: '0' });
  const argv = [...HOST, '--iree-hal-executable-object-search-path=objects', 'in.mlir', '-o', 'out.vmfb'];
  for (const name of ['iree-lld', 'objects']) place.write(name, 'before');
  await record(place, undefined, argv);
  place.remove('cache');
  // The replacement keeps size and content, as another version may.
  const deed = `[ -e replaced ] || { touch replaced '${file}'; }`;
  const env = misbehavingCompiler(place, '*--iree-codegen-tuning-spec-path=*', deed);
  const remembered = () =>
    ['replays', 'outputs', 'plans'].map((name) =>
      place.has(`cache/${name}`) ? readdirSync(place.path(`cache/${name}`)).length > 0 : false,
    );
  expect(await place.compile(argv, { env })).toMatchObject({ code: 0, stderr: '' });
  expect(remembered()).toEqual([false, false, false]);
  expect(await place.compile(argv, { env })).toMatchObject({ code: 0, stderr: '' });
  expect(remembered()).toEqual([true, true, true]);
});

describe('a database behind a link', () => {
  /** A workplace whose database has a second name, and a build that uses the second name. */
  async function linkedPlace(
    target: string,
    link: string,
    database = link,
    more: Record<string, string> = {},
  ) {
    const place = await recordedWorkplace({ IREE_TUNED_BUDGET: '0' });
    symlinkSync(place.path(target), place.path(link));
    const env = { IREE_TUNED_DB: place.path(database), ...more };
    const build = async () => {
      expect((await place.compile([...HOST, 'in.mlir', '-o', 'out.vmfb'], { env })).code).toBe(0);
      return place.read('out.vmfb');
    };
    const before = await build();
    expect((await build()).equals(before)).toBe(true);
    return { place, isAsBefore: async () => (await build()).equals(before) };
  }

  const copyDatabase = (from: string, to: string) => {
    const database = new Database(from);
    database.exec(`VACUUM INTO '${to}'`);
    database.close();
  };

  const withoutRecords = (path: string) => {
    const database = new Database(path);
    database.exec('DELETE FROM claim');
    return database;
  };

  const links: [string, string, string, string][] = [
    ['to the file', 'data/tuning.db', 'link.db', 'link.db'],
    ['to its folder', 'data', 'link', 'link/tuning.db'],
  ];
  test.each(casesOfTier(links, 1))(
    '%s is read again after another process has written to it',
    async (_, ...names) => {
      const { place, isAsBefore } = await linkedPlace(...names);
      expect(readdirSync(place.path('cache/replays'))).toHaveLength(1);
      // While the database is open, the new rows are only in the log next to the real file.
      const open = withoutRecords(place.database);
      expect(await isAsBefore()).toBe(false);
      open.close();
    },
  );

  test('is read again after the link changes', async () => {
    const { place, isAsBefore } = await linkedPlace('data/tuning.db', 'link.db');
    copyDatabase(place.database, place.path('other.db'));
    withoutRecords(place.path('other.db')).close();
    rmSync(place.path('link.db'));
    symlinkSync(place.path('other.db'), place.path('link.db'));
    expect(await isAsBefore()).toBe(false);
  });

  test('is read after the target of the link appears', { tags: 'full' }, async () => {
    const readonly = { IREE_TUNED_READONLY: '1' };
    const { place, isAsBefore } = await linkedPlace('later.db', 'link.db', 'link.db', readonly);
    copyDatabase(place.database, place.path('later.db'));
    expect(await isAsBefore()).toBe(false);
  });
});

test('a miss is not replayed by a build that may tune it', { tags: 'full', timeout: 120_000 }, async () => {
  const place = Workplace.simulated({ IREE_TUNED_ON_MISS: 'default' }, { programs: 'failing' });
  place.write('in.mlir', oddMatmul);
  const argv = [...HOST, 'in.mlir', '-o', 'out.vmfb'];
  for (let i = 0; i < 2; i++) expect((await place.compile(argv)).code).toBe(0);
  const stock = place.read('out.vmfb');
  const env = { IREE_TUNED_ON_MISS: 'tune' };
  expect((await place.compile(argv, { env })).code).toBe(0);
  const tuned = place.read('out.vmfb');
  expect(tuned.equals(stock)).toBe(false);
  // The same command as at the beginning, now with a record.
  expect((await place.compile(argv)).code).toBe(0);
  expect(place.read('out.vmfb').equals(tuned)).toBe(true);
});

test('a response file is read every time', { tags: 'full' }, async () => {
  const place = new Workplace({ IREE_TUNED_BUDGET: '0' });
  place.write('with.mlir', oddMatmul);
  place.write('without.mlir', withoutMatmul);
  for (const input of ['with', 'without', 'with']) {
    place.write('arguments', [...HOST, `${input}.mlir`, '-o', `${input}.vmfb`].join(' '));
    expect((await place.compile(['@arguments'])).code).toBe(0);
    expect(place.has(`${input}.vmfb`)).toBe(true);
    rmSync(place.path(`${input}.vmfb`));
  }
});

test('a missing working directory fails no build', { tags: 'full' }, async () => {
  const place = new Workplace({ IREE_TUNED_BUDGET: '0' });
  place.write('in.mlir', oddMatmul);
  const input = place.path('in.mlir');
  const gone = (tool: string) =>
    place.run('/bin/sh', [
      '-c',
      `mkdir gone; cd gone; rmdir ../gone; exec '${tool}' ${HOST.join(' ')} '${input}' -o '${place.path('out.vmfb')}'`,
    ]);
  // The shell of the launcher may print a message about it.
  for (let i = 0; i < 3; i++) {
    expect(await gone(WRAPPER)).toMatchObject({ code: 0 });
    expect(place.has('out.vmfb')).toBe(true);
    rmSync(place.path('out.vmfb'));
  }
});
