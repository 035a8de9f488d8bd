// @module-tag slow
// db export, db import, db prune and doctor.
// In full after a change of src/cli/db, src/store/exchange.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openSqliteStore } from '../../src/store/sqlite/sqlite.ts';
import { alter, DECISION, MARK, SUBJECT, subjectOf, TILE } from '../store/support.ts';
import { openExchange } from '../../src/store/sqlite/exchange.ts';
import { readValue } from '../../src/store/exchange/read.ts';
import { keysOf as placeOf } from '../../src/store/subject.ts';
import { claimLineOf, partLinesOf, trialLineOf } from '../store/exchange/samples.ts';
import type { Finding } from '../../src/cli/doctor-runner.ts';
import { endOf, newPlace, startCommand } from './commands.ts';

const KILLED = join(import.meta.dirname, 'killed.ts');

function place() {
  const { folder, at, env, run } = newPlace();
  const start = (...words: readonly string[]) => startCommand(words, { cwd: folder, env });
  /** Runs a command and kills it at a place of killed.ts. */
  const killed = async (where: string, ...words: readonly string[]) => {
    const own = { cwd: folder, env: { ...env, KILLED_AT: where } };
    const child = startCommand(words, own, ['--import', KILLED]);
    await endOf(child);
    expect(child.signalCode).toBe('SIGKILL');
  };
  const fill = (name: string, ...sizes: readonly number[]) => {
    const store = openSqliteStore(at(name));
    for (const m of sizes) store.putRecord(subjectOf(m), DECISION);
    store.close();
  };
  /** Writes records of all sizes from `first` to `last` in one transaction. */
  const fillMany = (name: string, first: number, last: number) => {
    const exchange = openExchange(at(name));
    const subjects = Array.from({ length: last - first + 1 }, (_, i) => subjectOf(first + i));
    const lines = subjects.flatMap((subject) => [...partLinesOf(subject), claimLineOf(placeOf(subject))]);
    exchange.receive(lines.map((line) => readValue(line)));
    exchange.close();
  };
  const keys = (name: string) => {
    const store = openSqliteStore(at(name));
    const found = store.allRecords().map(({ workload }) => workload);
    store.close();
    return found.sort();
  };
  return { folder, at, run, start, killed, fill, fillMany, keys };
}

const keysOf = (...sizes: readonly number[]) => sizes.map((m) => subjectOf(m).workload).sort();

test('files, pipes and databases carry the same lines', async () => {
  const { at, run, start, fill, keys } = place();
  fill('tuning.db', 4, 8);
  const written = await run('db', 'export', 'all.jsonl');
  expect(written).toEqual({ code: 0, out: `all.jsonl: 7 lines from ${at('tuning.db')}\n`, err: '' });
  const { out } = await endOf(start('db', 'export', '-'));
  expect(out).toBe(readFileSync(at('all.jsonl'), 'utf8'));
  expect((await run('db', 'export', '--sqlite', 'copy.db')).code).toBe(0);

  const piped = await endOf(start('--db', at('piped.db'), 'db', 'import', '-'), out);
  expect(piped).toMatchObject({ code: 0, err: '' });
  expect(piped.out).toBe(
    '-: new or better: 2 claims, 0 marks, 0 trials, 0 revocations, 0 notes; 0 lines known before\n',
  );
  const merged = await run('--db', at('merged.db'), 'db', 'import', 'copy.db', 'piped.db', '--json');
  expect(JSON.parse(merged.out)).toMatchObject({
    files: [
      { from: 'copy.db', added: { claim: 2, workload: 2 }, known: 0, refused: 0 },
      { from: 'piped.db', added: {}, known: 7, refused: 0 },
    ],
  });
  for (const name of ['piped.db', 'copy.db', 'merged.db']) {
    expect(keys(name)).toEqual(keysOf(4, 8));
    expect((await run('--db', at(name), 'db', 'export', '-')).out).toBe(out);
  }
});

test('listings and exports filter alike', async () => {
  const { at, run, fill } = place();
  fill('tuning.db', 4, 8);
  const store = openSqliteStore(at('tuning.db'));
  store.putRecord(subjectOf(4, { compiler: 'iree 3.12.0', device: 'far away' }), DECISION);
  store.close();
  const records = async (...args: readonly string[]) =>
    (JSON.parse((await run('db', 'ls', '--json', ...args)).out) as unknown[]).length;
  expect(await records()).toBe(3);
  expect(await records('--with-compiler', '3.12')).toBe(1);
  expect(await records('--on-device', 'threads', '--workload', 'm=4 ')).toBe(1);
  expect(await records('--for-target', 'gpu')).toBe(0);
  const refused = await run('db', 'ls', '--compiler', '3.12');
  expect(refused).toMatchObject({ code: 2, err: expect.stringContaining('use --with-compiler') as string });
  const { out } = await run('db', 'ls', '--for-target', 'gpu');
  expect(out).toBe(`No records with target "gpu" in ${at('tuning.db')}.\n`);
  const shown = await run('db', 'show', 'm=4 ', '--with-compiler', '3.12');
  expect(shown.out).toMatch(/compiler {7}iree 3\.12\.0[^]*digest {9}[0-9a-f]{64}/);
  expect(shown.out).toMatch(/time +gain +configuration\n.*the record/);
  const lines = (await run('db', 'export', '-', '--with-compiler', '3.12')).out.trim().split('\n');
  expect(lines.filter((line) => line.includes('"claim"'))).toHaveLength(1);
});

test('show has the best trials of a record, or all trials with a column for each knob', async () => {
  const { at, run, fill } = place();
  fill('tuning.db', 4);
  const store = openSqliteStore(at('tuning.db'));
  const trial = { configuration: TILE, message: null, strategy: 'guided' };
  store.addTrials(subjectOf(4), [
    { ...trial, outcome: 'measured', seconds: 0.001, ratio: 2 },
    { ...trial, outcome: 'compile-error', seconds: null, ratio: null, message: 'out of registers' },
  ]);
  store.close();
  const { out: best } = await run('db', 'show', 'm=4 ');
  expect(best).toMatch(/\d+ trials, \d+ measured:\n/);
  expect(best).not.toContain('out of registers');
  const { out: all } = await run('db', 'show', 'm=4 ', '--all');
  expect(all).toMatch(
    /time +gain +distribution_m .*outcome +message\n.* 2\.00x [^]*compile-error +out of registers/,
  );
  const { records, trials } = JSON.parse((await run('db', 'show', 'm=4 ', '--json')).out) as {
    records: unknown[];
    trials: { knobs: unknown; device: string }[];
  };
  expect(records).toHaveLength(1);
  expect(trials.at(-1)).toMatchObject({ knobs: { peeling: TILE.peeling }, device: subjectOf(4).device });
});

test('import names invalid lines, and imports the others', async () => {
  const { at, run, fill, keys } = place();
  fill('tuning.db', 4);
  await run('db', 'export', 'all.jsonl');
  const lines = readFileSync(at('all.jsonl'), 'utf8').trim().split('\n');
  const claim = lines.at(-1)!;
  const cut = [...lines.slice(0, -1), '{"type":', '', claim.replace('1.83', '9.99'), claim];
  writeFileSync(at('cut.jsonl'), cut.join('\n'));
  const { code, out, err } = await run('--db', at('new.db'), 'db', 'import', 'cut.jsonl');
  expect(code).toBe(1);
  expect(err).toMatch(
    /^iree-tuned: refused: cut\.jsonl:5: it is not JSON\niree-tuned: refused: cut\.jsonl:7: claim: /,
  );
  expect(out).toContain('1 claim, 0 marks');
  expect(out).toContain('2 lines refused');
  expect(keys('new.db')).toEqual(keysOf(4));
});

describe('an error has the way out', () => {
  test.each<[string, string[], string, number?]>([
    ['the database itself', ['db', 'import', 'tuning.db'], 'name another one'],
    ['a damaged database', ['db', 'import', 'damaged.db'], 'damaged.db is no database, or is damaged'],
    ['a missing file', ['db', 'import', 'none.jsonl'], 'none.jsonl cannot be read: there is no such file'],
    ['a folder', ['db', 'import', '.'], '. cannot be read: it is a folder, not a file'],
    ['a database on stdout', ['db', 'export', '-', '--sqlite'], 'need a file', 2],
    ['a prune of nothing', ['db', 'prune'], '--trials-older-than DAYS', 2],
    ['a prune of all records', ['db', 'prune', '--records'], '--with-compiler', 2],
    ['an invalid age', ['db', 'prune', '--trials-older-than', 'old'], 'give a number of days', 2],
    ['a missing folder', ['db', 'export', 'no/file'], 'no/file cannot be written: there is no such file'],
  ])('%s', async (_, args, message, ends = 1) => {
    const { at, run, fill } = place();
    fill('tuning.db', 4);
    fill('other.db', 8);
    writeFileSync(at('damaged.db'), `SQLite format 3\0${'?'.repeat(4000)}`);
    const { code, err } = await run(...args);
    expect(code).toBe(ends);
    expect(err).toContain(message);
    expect(err).not.toContain('    at ');
  });
});

test('prune counts lines, and removes them with --apply only', async () => {
  const { at, run, fill, keys } = place();
  fill('tuning.db', 4, 8);
  const exchange = openExchange(at('tuning.db'));
  exchange.receive([...partLinesOf(), trialLineOf()].map((line) => readValue(line)));
  exchange.close();
  const [old, some] = [
    ['--trials-older-than', '1'],
    ['--records', '--workload', 'm=4 '],
  ] as const;
  const dry = await run('db', 'prune', ...old, ...some, '--json');
  expect(JSON.parse(dry.out)).toMatchObject({ applied: false, trials: 0, claims: 1 });
  const { out } = await run('db', 'prune', ...old);
  expect(out).toContain('--apply removes 1 trials with 1 runs, and 0 claims');
  expect(keys('tuning.db')).toEqual(keysOf(4, 8));
  await run('db', 'prune', ...some, '--apply');
  expect(keys('tuning.db')).toEqual(keysOf(8));
});

test(
  'a killed export leaves no partial file, the next one removes its rest, and a killed import can be repeated',
  { tags: 'full' },
  async () => {
    const { folder, at, run, killed, fillMany, keys } = place();
    // Files and transactions have parts of 1000 lines: here 603 lines describe subjects, then 600 claims follow.
    const count = 600;
    fillMany('tuning.db', 1, count);
    writeFileSync(at('all.jsonl'), 'what was there before');
    await killed('file 2', 'db', 'export', 'all.jsonl');
    expect(readFileSync(at('all.jsonl'), 'utf8')).toBe('what was there before');
    expect(readdirSync(folder)).toContainEqual(expect.stringMatching(/^all\.jsonl\..*\.tmp$/));
    await run('db', 'export', 'all.jsonl');
    await killed('rows 300', 'db', 'export', 'all.db', '--sqlite');
    const rest = () => readdirSync(folder).filter((name) => name.includes('.tmp'));
    expect(rest()).toContainEqual(expect.stringMatching(/^all\.db\..*\.tmp-wal$/));
    await run('db', 'export', 'all.db', '--sqlite');
    expect(rest()).toEqual([]);
    // Kills in the first and in the second transaction.
    for (const row of [300, 3200])
      await killed(`rows ${row}`, '--db', at('new.db'), 'db', 'import', 'all.jsonl');
    const before = keys('new.db').length;
    expect(before).toBeGreaterThan(0);
    expect(before).toBeLessThan(count);
    const { code } = await run('--db', at('new.db'), 'db', 'import', 'all.jsonl');
    expect(code).toBe(0);
    expect(keys('new.db')).toHaveLength(count);
    expect(readdirSync(folder)).toContain('all.jsonl');
  },
);

test('two imports at once lose no line', { tags: 'full' }, async () => {
  const { at, run, start, fillMany, keys } = place();
  fillMany('one.db', 1, 300);
  fillMany('two.db', 200, 499);
  for (const name of ['one', 'two']) await run('--db', at(`${name}.db`), 'db', 'export', `${name}.jsonl`);
  mkdirSync(at('cache'), { recursive: true });
  const both = await Promise.all(['one', 'two'].map((name) => endOf(start('db', 'import', `${name}.jsonl`))));
  expect(both.map(({ code }) => code)).toEqual([0, 0]);
  expect(keys('tuning.db')).toHaveLength(499);
});

test('the doctor counts invalid rows', async () => {
  const { at, run, fill } = place();
  fill('tuning.db', 4, 8);
  const database = async () => {
    const { out } = await run('doctor', '--json');
    return (JSON.parse(out) as Finding[]).find(({ what }) => what === 'database');
  };
  const well = expect.stringMatching(`^${at('tuning.db')}, 2 records`) as string;
  expect(await database()).toMatchObject({ ok: true, found: well });
  const store = openSqliteStore(at('tuning.db'));
  store.addMarks(SUBJECT, [MARK]);
  store.close();
  alter(
    at('tuning.db'),
    `UPDATE claim SET configuration = '"rm -rf"' WHERE id = 1; UPDATE mark SET kind = 'x'`,
  );
  expect(await database()).toMatchObject({
    ok: false,
    found: expect.stringContaining('; invalid, and ignored: 1 claim, 1 mark') as string,
  });
}, 120_000);
