// @module-tag slow
// Rules of the server: merging, rights, and hostile clients.
import { afterAll, describe, expect, test } from 'vitest';
import pg from 'pg';
import { DEFAULT_CONFIGURATION } from '../../src/backend/configuration.ts';
import { joined } from '../../src/store/claim.ts';
import type { ClaimLine, Line } from '../../src/store/exchange/lines.ts';
import { ROLES } from '../../src/team/roles.ts';
import { openTeam } from '../../src/team/postgres.ts';
import type { Team } from '../../src/team/team.ts';
import { isWithout } from '../support/needs.ts';
import { whyNoPostgres, type TestDatabase } from '../support/postgres.ts';
import {
  claimOf,
  client,
  clientAs,
  everything,
  given,
  LONG,
  markOf,
  ofType,
  ORIGIN,
  partsOf,
  QUESTION,
  refusal,
  revocationOf,
  SUBJECT,
  subjectOf,
  teamDatabase,
  TILE,
  trialOf,
} from './support.ts';

describe.skipIf(isWithout(whyNoPostgres))("a team's server", () => {
  test('returns claims unchanged to the last digit', async () => {
    const database = await teamDatabase();
    const writer = await clientAs(database, 'writer');
    const claims = [
      claimOf({
        evidence: { ratio: 1.8300000000000003, seconds: 5e-324, defaultSeconds: 1.7e308, maxError: 1e-17 },
      }),
      claimOf({ configuration: DEFAULT_CONFIGURATION, evidence: { families: [] } }),
    ];
    const sent = [...partsOf(), ...claims, markOf({ reason: 'λ "quoted" \\ $$ %s\n\ttext' })];
    const { changed, refused } = await given(writer.push(sent, LONG));
    expect({ changed, refused }).toEqual({
      changed: { claims: 2, marks: 1, trials: 0, revocations: 0 },
      refused: {},
    });
    const reader = await clientAs(database, 'reader');
    const answer = await given(reader.ask(QUESTION, LONG));
    expect(answer.ignored).toBe(0);
    // The answer omits the forms of workloads in the question.
    const news = sent.filter(({ type }) => !['workload', 'target', 'compiler'].includes(type));
    expect(answer.lines).toHaveLength(news.length);
    expect(answer.lines).toEqual(expect.arrayContaining(news));
    expect(await everything(reader)).toEqual(expect.arrayContaining(sent));
  });

  /** Claims with as many configurations that promise too much, from an origin that `of` gives. */
  const boasts = (count: number, of: (n: number) => Partial<typeof ORIGIN> = () => ({})) =>
    Array.from({ length: count }, (_, n) =>
      claimOf({
        configuration: { ...TILE, distribution: [n + 1, 64, 0] },
        evidence: { ratio: 1e300, low: 1e300, high: 1e300 },
        origin: of(n),
      }),
    );

  test("returns every login's best claim, whatever others promise", async () => {
    const database = await teamDatabase();
    const boaster = await clientAs(database, 'writer');
    const boasted = boasts(40, (n) => ({ createdBy: `somebody ${n}` }));
    await given(boaster.push([...partsOf(), ...boasted], LONG));
    const honest = claimOf();
    await given((await clientAs(database, 'writer', 'honest')).push([honest], LONG));
    const answer = await given((await clientAs(database, 'reader')).ask(QUESTION, LONG));
    const claims = ofType(answer.lines, 'claim');
    expect(claims).toHaveLength(32);
    expect(claims).toContainEqual(honest);
  });

  test("returns the best claim of each of a login's machines", async () => {
    const database = await teamDatabase();
    const writer = await clientAs(database, 'writer');
    const honest = claimOf({ origin: { machine: 'host-2' } });
    await given(writer.push([...partsOf(), ...boasts(40), honest], LONG));
    const answer = await given((await clientAs(database, 'reader')).ask(QUESTION, LONG));
    expect(ofType(answer.lines, 'claim')).toContainEqual(honest);
  });

  test('returns an empty answer for an unknown workload', async () => {
    const reader = await clientAs(await teamDatabase(), 'reader');
    expect(await given(reader.ask(QUESTION, LONG))).toEqual({ lines: [], later: [], ignored: 0 });
    expect(await given(reader.ask({ ...QUESTION, workloads: [] }, LONG))).toEqual({
      lines: [],
      later: [],
      ignored: 0,
    });
  });

  test('returns at most eight devices, those with such a processor first', async () => {
    const writer = await clientAs(await teamDatabase(), 'writer');
    const processor = { architecture: 'x64', vendor: 'AuthenticAMD', family: 25, model: 97 };
    const devices = Array.from({ length: 12 }, (_, i) =>
      subjectOf(512, {
        device: `device ${i}`,
        deviceForm: { processor: { ...processor, model: i < 10 ? i : 97, caches: [i] } },
      }),
    );
    for (const subject of devices)
      await given(writer.push([...partsOf(subject), claimOf({ subject })], LONG));
    const ask = async (device: string) => {
      const { lines } = await given(writer.ask({ ...QUESTION, device, processor }, LONG));
      return ofType(lines, 'claim').map((line) => line.device);
    };
    expect(await ask('device 9')).toHaveLength(8);
    expect(await ask('device 9')).toEqual(expect.arrayContaining(['device 9', 'device 10', 'device 11']));
  });

  test('merges claims like clients, in any order', async () => {
    const base = claimOf();
    const variants: ClaimLine[] = [
      base,
      claimOf({ evidence: { processes: 6, families: ['tile'], trials: 3 } }),
      claimOf({ evidence: { version: 1, processes: 99, tuningSeconds: 1e6 } }),
      claimOf({ evidence: { complete: false, processes: 50, trials: 5000 } }),
      claimOf({ evidence: { repetitions: 61, families: ['a-family'] } }),
      claimOf({ evidence: { low: 1.8 } }),
      claimOf({ createdAt: '2026-01-31T08:00:01.000Z' }),
      // Evidence of an unknown version does not rank above the known ones.
      claimOf({ evidence: { version: 1000, processes: 3 } }),
    ];
    const expected = variants.reduce((a, b) => ({ ...a, ...joined(a, b) }));
    for (const order of [variants, variants.toReversed(), [...variants.slice(3), ...variants.slice(0, 3)]]) {
      const writer = await clientAs(await teamDatabase(), 'writer');
      for (const claim of order) await given(writer.push([...partsOf(), claim], LONG));
      const before = await everything(writer);
      expect(ofType(before, 'claim')).toEqual([expected]);
      // A repeated push changes nothing, so nobody pulls.
      const { changed } = await given(writer.push([...partsOf(), ...order.slice(0, 1)], LONG));
      expect(changed.claims).toBe(0);
    }
  });

  test('keeps each mark once, from any login', async () => {
    const database = await teamDatabase();
    const [ada, bob] = [await clientAs(database, 'writer', 'ada'), await clientAs(database, 'writer', 'bob')];
    const slower = markOf({ kind: 'slower' });
    await given(ada.push([...partsOf(), slower], LONG));
    const handedOn = await given(bob.push([...partsOf(), slower], LONG));
    expect(handedOn.changed.marks).toBe(0);
    const own = { ...slower, createdBy: 'bob' };
    expect((await given(bob.push([own], LONG))).changed.marks).toBe(1);
    expect(ofType(await everything(bob), 'mark')).toHaveLength(2);
  });

  test('lets only administrators lift marks and open generations', async () => {
    const database = await teamDatabase();
    const writer = await clientAs(database, 'writer');
    const administrator = await clientAs(database, 'administrator');
    await given(writer.push([...partsOf(), markOf()], LONG));
    const lifted = markOf({ kind: 'lifted', generation: 1, reason: 'mended' });
    const tried = await given(writer.push([lifted, markOf({ generation: 7 })], LONG));
    expect(tried).toMatchObject({
      changed: { marks: 0 },
      refused: {
        'only an administrator lifts marks': 1,
        'a generation of marks that no administrator has opened': 1,
      },
    });
    expect((await given(administrator.push([lifted], LONG))).changed.marks).toBe(1);
    expect((await given(writer.push([markOf({ generation: 1 })], LONG))).changed.marks).toBe(1);
    expect(ofType(await everything(writer), 'mark')).toHaveLength(3);
  });

  test('serves no revoked claim, and accepts another claim in its place', async () => {
    const database = await teamDatabase();
    const writer = await clientAs(database, 'writer');
    const [made, honest] = [claimOf({ evidence: { processes: 1000 } }), claimOf()];
    await given(writer.push([...partsOf(), honest], LONG));
    await given(writer.push([made], LONG));
    const revocation = revocationOf('record', made.digest);
    expect(await given(writer.revoke(revocation, LONG))).toEqual({ revoked: 1 });
    expect(ofType(await everything(writer), 'claim')).toEqual([]);
    const again = await given(writer.push([made, markOf()], LONG));
    expect(again).toMatchObject({ changed: { claims: 0, marks: 1 }, refused: { revoked: 1 } });
    expect((await given(writer.push([honest], LONG))).changed.claims).toBe(1);
    const lines = await everything(writer);
    expect(ofType(lines, 'claim')).toEqual([honest]);
    expect(ofType(lines, 'revocation')).toEqual([revocation]);
  });

  test('lets writers revoke their own claims, and administrators all claims', async () => {
    const database = await teamDatabase();
    const [ada, bob] = [await clientAs(database, 'writer', 'ada'), await clientAs(database, 'writer', 'bob')];
    const administrator = await clientAs(database, 'administrator');
    const bobs = claimOf({
      origin: { createdBy: 'bob', machine: 'host-2' },
      configuration: DEFAULT_CONFIGURATION,
    });
    await given(ada.push([...partsOf(), claimOf()], LONG));
    await given(bob.push([...partsOf(), bobs], LONG));
    expect((await refusal(ada.revoke(revocationOf('origin', 'bob'), LONG))).kind).toBe('rejected');
    expect((await refusal(ada.revoke(revocationOf('tool', ORIGIN.tool), LONG))).kind).toBe('rejected');
    expect((await refusal(ada.revoke(revocationOf('origin', 'nobody yet'), LONG))).kind).toBe('rejected');
    expect((await given(ada.push([revocationOf('origin', 'bob')], LONG))).changed.revocations).toBe(0);
    expect(ofType(await everything(ada), 'claim')).toHaveLength(2);
    expect(await given(ada.revoke(revocationOf('origin', 'ada@host-1'), LONG))).toEqual({ revoked: 1 });
    expect(await given(administrator.revoke(revocationOf('tool', ORIGIN.tool), LONG))).toEqual({
      revoked: 2,
    });
    expect(ofType(await everything(ada), 'claim')).toEqual([]);
  });

  test('disconnects a client that holds the lock in an idle transaction, and limits the wait of others', async () => {
    const database = await teamDatabase();
    const direct = new pg.Client(await database.login('writer', { in: 'iree_tuned_writer' }));
    await direct.connect();
    await direct.query('BEGIN');
    await direct.query(`SELECT iree_tuned.push('{"protocol": 1, "lines": {}}')`);
    const limits = await direct.query(
      `SELECT current_setting('lock_timeout') AS wait, current_setting('idle_in_transaction_session_timeout') AS idle`,
    );
    expect(limits.rows).toEqual([{ wait: '10s', idle: '30s' }]);
    await direct.query('COMMIT');
    const after = await direct.query(`SELECT current_setting('lock_timeout') AS wait`);
    expect(after.rows).toEqual([{ wait: '0' }]);
    await direct.end();
  });

  test("refuses a revocation of another login's claim in every form", async () => {
    const database = await teamDatabase();
    const [ada, eve] = [await clientAs(database, 'writer', 'ada'), await clientAs(database, 'writer', 'eve')];
    const honest = claimOf();
    await given(ada.push([...partsOf(), honest], LONG));
    for (const value of [honest.digest, honest.digest.toUpperCase(), 'no digest'])
      expect((await refusal(eve.revoke(revocationOf('record', value), LONG))).kind).toBe('rejected');
    const pushed = await given(eve.push([revocationOf('record', honest.digest)], LONG));
    expect(pushed.changed.revocations).toBe(0);
    expect(ofType(await everything(ada), 'claim')).toEqual([honest]);
    expect(await given(ada.revoke(revocationOf('record', honest.digest), LONG))).toEqual({ revoked: 1 });
  });

  test('withdraws revocations of a distrusted login, and lets an administrator restore any other', async () => {
    const database = await teamDatabase();
    const [ada, eve] = [await clientAs(database, 'writer', 'ada'), await clientAs(database, 'writer', 'eve')];
    const administrator = await clientAs(database, 'administrator');
    const [honest, eves] = [
      claimOf(),
      claimOf({ configuration: DEFAULT_CONFIGURATION, origin: { createdBy: 'eve' } }),
    ];
    await given(ada.push([...partsOf(), honest], LONG));
    await given(eve.push([...partsOf(), eves], LONG));
    await given(eve.revoke(revocationOf('record', eves.digest), LONG));
    await given(administrator.revoke(revocationOf('record', honest.digest), LONG));
    expect(ofType(await everything(ada), 'revocation')).toHaveLength(2);
    await database.query(`SELECT iree_tuned.distrust('eve_${database.name}')`);
    expect(ofType(await everything(ada), 'revocation')).toEqual([revocationOf('record', honest.digest)]);

    const restored = async () =>
      (await database.query(`SELECT iree_tuned.restore('record', '${honest.digest}') AS restored`))[0]![
        'restored'
      ];
    expect(await restored()).toBe(true);
    expect(await restored()).toBe(false);
    const lines = await everything(ada);
    expect(ofType(lines, 'revocation')).toEqual([]);
    expect(ofType(lines, 'claim')).toEqual([honest]);
  });

  test('hides the lines of a distrusted login, and opens a new epoch', async () => {
    const database = await teamDatabase();
    const [ada, eve] = [await clientAs(database, 'writer', 'ada'), await clientAs(database, 'writer', 'eve')];
    const honest = claimOf();
    await given(ada.push([...partsOf(), honest], LONG));
    // A false claim that wins every comparison, and a form that does not match its key.
    await given(
      eve.push(
        [{ ...partsOf()[1]!, key: 'poisoned', form: 'nonsense' }, claimOf({ evidence: { processes: 9999 } })],
        LONG,
      ),
    );
    const before = await given(ada.pull({ target: SUBJECT.target, compiler: SUBJECT.compiler }, null, LONG));
    await database.query(`SELECT iree_tuned.distrust('eve_${database.name}')`);
    expect((await refusal(eve.push([claimOf({ evidence: { processes: 9998 } })], LONG))).reason).toMatch(
      /distrusts/,
    );
    const after = await given(
      ada.pull({ target: SUBJECT.target, compiler: SUBJECT.compiler }, before.cursor, LONG),
    );
    expect(after.restarted).toBe(true);
    await given(ada.push([...partsOf(), honest], LONG));
    expect(ofType(await everything(ada), 'claim')).toEqual([honest]);
    expect(await database.query(`SELECT form FROM iree_tuned.target WHERE key = 'poisoned'`)).toEqual([
      { form: null },
    ]);
  });

  test('returns each change since a cursor once, page by page', async () => {
    const database = await teamDatabase();
    const writer = await clientAs(database, 'writer');
    const filter = { target: SUBJECT.target, compiler: SUBJECT.compiler };
    const lines = Array.from({ length: 1200 }, (_, i) => {
      const subject = subjectOf(i + 1);
      return [partsOf(subject)[0]!, claimOf({ subject })];
    }).flat();
    await given(writer.push([...partsOf().slice(1), ...lines], LONG));
    const elsewhere = subjectOf(7, { target: 'llvm-cpu elsewhere' });
    await given(writer.push([...partsOf(elsewhere), claimOf({ subject: elsewhere })], LONG));
    const first = await given(writer.pull(filter, null, LONG));
    expect({ more: first.more, claims: ofType(first.lines, 'claim').length }).toEqual({
      more: true,
      claims: 1000,
    });
    const second = await given(writer.pull(filter, first.cursor, LONG));
    expect({ more: second.more, claims: ofType(second.lines, 'claim').length }).toEqual({
      more: false,
      claims: 200,
    });
    expect(second.ignored).toBe(0);
    const third = await given(writer.pull(filter, second.cursor, LONG));
    expect(third).toMatchObject({ lines: [], more: false, restarted: false, cursor: second.cursor });
    // A better claim is a change.
    await given(writer.push([claimOf({ subject: subjectOf(1), evidence: { processes: 7 } })], LONG));
    expect(ofType((await given(writer.pull(filter, second.cursor, LONG))).lines, 'claim')).toHaveLength(1);
    // A cursor of another server or epoch starts over.
    const ahead = { ...second.cursor, seq: 1e9 };
    expect(await given(writer.pull(filter, ahead, LONG))).toMatchObject({ restarted: true, more: true });
    const few = { ...filter, target: elsewhere.target };
    for (const strange of [
      { ...second.cursor, epoch: 'another' },
      { ...second.cursor, server: 'another' },
    ]) {
      const anew = await given(writer.pull(few, strange, LONG));
      expect(anew).toMatchObject({ restarted: true, more: false });
      expect(ofType(anew.lines, 'claim')).toHaveLength(1);
    }
    const other = await given(writer.pull({ ...filter, device: 'another device' }, null, LONG));
    expect(other.lines).toEqual([]);
  });

  test('keeps each trial once, in a partition by month', async () => {
    const database = await teamDatabase();
    const worker = await clientAs(database, 'worker');
    const trials = [
      trialOf(1),
      trialOf(2, { createdAt: '2026-03-31T23:59:59.999Z' }),
      trialOf(3, { outcome: 'compile-error', seconds: null, ratio: null, message: 'error: no' }),
    ];
    const ahead = trialOf(4, { createdAt: '2999-01-01T00:00:00Z' });
    const sent = await given(worker.push([...partsOf(), ...trials, ahead], LONG));
    expect(sent).toMatchObject({ changed: { trials: 3 }, refused: { 'from a month that has not come': 1 } });
    expect((await given(worker.push(trials, LONG))).changed.trials).toBe(0);
    const found = await given(worker.trials(SUBJECT, LONG));
    expect(found).toEqual({ lines: [trials[0], trials[2], trials[1]], later: [], ignored: 0 });
    const partitions = await database.query(
      `SELECT inhrelid::regclass::text AS name FROM pg_inherits WHERE inhparent = 'iree_tuned.trial'::regclass ORDER BY 1`,
    );
    expect(partitions.map(({ name }) => name)).toEqual([
      'iree_tuned.trial_2026_01',
      'iree_tuned.trial_2026_03',
    ]);
  });

  test('counts the builds of each demand', async () => {
    const database = await teamDatabase();
    const writer = await clientAs(database, 'writer');
    for (let i = 0; i < 3; i++) await given(writer.want(partsOf(), [SUBJECT], LONG));
    expect(await database.query('SELECT builds::int FROM iree_tuned.demand')).toEqual([{ builds: 3 }]);
    const unknown = { ...SUBJECT, workload: 'never described' };
    expect(await given(writer.want([], [unknown], LONG))).toEqual({ wanted: 0 });
  });

  test('accepts the valid lines of a push with invalid ones', async () => {
    const writer = await clientAs(await teamDatabase(), 'writer');
    const broken = claimOf({ evidence: { processes: 200_000 }, subject: subjectOf(2) });
    const lines = [...partsOf(), partsOf(subjectOf(2))[0]!, claimOf(), broken, markOf()];
    const { changed, refused } = await given(writer.push(lines, LONG));
    expect(changed).toMatchObject({ claims: 1, marks: 1 });
    expect(Object.entries(refused)).toEqual([[expect.stringContaining('claim_processes_check'), 1]]);
  });
});

describe.skipIf(isWithout(whyNoPostgres))('roles', () => {
  const FUNCTIONS = ROLES.flatMap(({ may }) => may as readonly string[]);
  let shared: ReturnType<typeof teamDatabase> | undefined;
  /** One database for tests that do not write. */
  const sharedDatabase = () => (shared ??= teamDatabase());

  test.each(ROLES.map(({ name }, i) => [name, i] as const))(
    '%s may execute what it should and no more',
    async (role, i) => {
      const database = await sharedDatabase();
      const allowed = ROLES.slice(0, i + 1).flatMap(({ may }) => may as readonly string[]);
      const url = await database.login(`somebody_${i}`, { in: role });
      const login = new URL(url).username;
      const rows = await database.query(
        `SELECT p.oid::regprocedure::text AS name, has_function_privilege($1, p.oid, 'EXECUTE') AS may
       FROM pg_proc AS p WHERE pronamespace = 'iree_tuned'::regnamespace`,
        [login],
      );
      const may = rows
        .filter((row) => row['may'] === true)
        .map(({ name }) => String(name).replace('iree_tuned.', ''));
      if (role === 'iree_tuned_administrator') expect(may).toEqual(expect.arrayContaining(allowed));
      else expect(may.sort()).toEqual(allowed.toSorted());
      expect(rows.length).toBeGreaterThan(FUNCTIONS.length);
    },
  );

  test('give no access to other logins, and no access to the tables', async () => {
    const database = await sharedDatabase();
    const stranger = client(await database.login('stranger'));
    expect((await refusal(stranger.ask(QUESTION, LONG))).kind).toBe('rejected');
    const reader = await clientAs(database, 'reader');
    for (const answer of [
      () => reader.push([...partsOf(), claimOf()], LONG),
      () => reader.want([], [], LONG),
      () => reader.trials(SUBJECT, LONG),
    ])
      expect(await refusal(answer())).toMatchObject({
        kind: 'rejected',
        reason: expect.stringContaining('permission') as string,
      });
    const direct = new pg.Client({
      connectionString: await database.login('direct', { in: 'iree_tuned_worker' }),
    });
    await direct.connect();
    const tables = await database.query(
      `SELECT oid::regclass::text AS name, relkind FROM pg_class
       WHERE relnamespace = 'iree_tuned'::regnamespace AND relkind IN ('r', 'p', 'v', 'S')`,
    );
    expect(tables.length).toBeGreaterThan(12);
    for (const { name } of tables) {
      await expect(direct.query(`SELECT * FROM ${String(name)}`)).rejects.toThrow('permission denied');
      await expect(direct.query(`DELETE FROM ${String(name)}`)).rejects.toThrow();
    }
    await expect(direct.query(`SELECT iree_tuned.distrust('postgres')`)).rejects.toThrow('permission denied');
    await expect(direct.query(`CREATE TABLE iree_tuned.own ()`)).rejects.toThrow('permission denied');
    await direct.end();
  });

  test("resist the caller's search path and temporary tables", async () => {
    const database = await teamDatabase();
    await database.query('GRANT CREATE ON SCHEMA public TO PUBLIC');
    const eve = new pg.Client({ connectionString: await database.login('eve', { in: 'iree_tuned_writer' }) });
    await eve.connect();
    await eve.query(`
      CREATE TEMP TABLE meta (one boolean, server uuid, epoch integer, protocol integer, version integer);
      INSERT INTO meta VALUES (true, gen_random_uuid(), 1, 42, 1);
      CREATE TEMP TABLE claim (); CREATE TEMP TABLE origin (login text, distrusted boolean);
      CREATE FUNCTION public.is_administrator() RETURNS boolean LANGUAGE sql AS 'SELECT true';
      CREATE FUNCTION public.sha256(bytea) RETURNS bytea LANGUAGE sql AS 'SELECT $1';
      CREATE FUNCTION public.equals(jsonb, jsonb) RETURNS boolean LANGUAGE sql AS 'SELECT true';
      CREATE OPERATOR public.= (LEFTARG = jsonb, RIGHTARG = jsonb, FUNCTION = public.equals);
      SET search_path = pg_temp, public, iree_tuned, pg_catalog`);
    const parts = partsOf().map((line) => ({ ...line, form: JSON.stringify(line.form) }));
    const all = [...parts, claimOf(), markOf({ kind: 'lifted', generation: 1 })];
    const request = { protocol: 1, lines: Object.groupBy(all, ({ type }) => type) };
    const { rows } = await eve.query<{ answer: Record<string, unknown> }>(
      'SELECT iree_tuned.push($1) AS answer',
      [JSON.stringify(request)],
    );
    expect(rows[0]!.answer).toMatchObject({
      protocol: 1,
      changed: { claims: 1, marks: 0 },
      unwelcome: { 'only an administrator lifts marks': 1 },
    });
    await eve.end();
    const stored = await database.query(
      'SELECT count(*)::int AS n, min(login) AS login FROM iree_tuned.claim JOIN iree_tuned.origin AS o ON o.id = origin',
    );
    expect(stored).toEqual([{ n: 1, login: `eve_${database.name}` }]);
  });
});

describe.skipIf(isWithout(whyNoPostgres))('a hostile client', () => {
  const raw = async (lines: readonly unknown[]) => {
    const database = await teamDatabase();
    const writer = await clientAs(database, 'writer');
    await given(writer.push(partsOf(), LONG));
    return { database, answer: await writer.push(lines as Line[], LONG) };
  };
  const claim = claimOf();
  const evidence = (change: object) => ({ ...claim, evidence: { ...claim.evidence, ...change } });

  const LINES: readonly (readonly [string, unknown])[] = [
    ['not a number', evidence({ ratio: 'NaN' })],
    ['infinite', evidence({ high: 'Infinity' })],
    ['negative', evidence({ seconds: -1 })],
    ['an interval without its ratio', evidence({ low: 1.85 })],
    ['too many processes', evidence({ processes: 2 ** 31 })],
    ['no evidence', { ...claim, evidence: null }],
    ['a configuration of 5 KB', { ...claim, configuration: { version: 1, kind: 'x'.repeat(5000) } }],
    ['a configuration that is none', { ...claim, configuration: [1] }],
    ['a family that is SQL', evidence({ families: ["tile','x'); DROP TABLE claim; --"] })],
    ['a digest that is none', { ...claim, digest: 'abc' }],
    ['a time that is none', { ...claim, createdAt: 'yesterday' }],
    ['a machine of 2 KB', { ...claim, machine: 'm'.repeat(2000) }],
    ['half a character', { ...claim, machine: '\ud800' }],
    ['a zero byte', { ...claim, machine: '\0' }],
    ['a mark of no kind', markOf({ kind: 'worse' as 'slower' })],
    ['a negative generation', markOf({ generation: -1 })],
    ['a trial of no id', trialOf(1, { id: 'x' })],
    ['a trial in negative time', trialOf(1, { seconds: -1 })],
    ['a key of 9 KB', { type: 'target', version: 1, key: 'k'.repeat(9000), form: {} }],
    ['an empty key', { type: 'target', version: 1, key: '', form: {} }],
    ['no key', { type: 'target', version: 1, form: {} }],
  ];
  let shared: Promise<{ database: TestDatabase; writer: Team }> | undefined;
  const sharedWriter = () =>
    (shared ??= (async () => {
      const database = await teamDatabase();
      const writer = openTeam(await database.login('writer', { in: 'iree_tuned_writer' }), {});
      await given(writer.push(partsOf(), LONG));
      return { database, writer };
    })());
  afterAll(async () => {
    (await shared)?.writer.close();
  });

  test.each(LINES.map(([what, line], i) => [what, line, i] as const))(
    'writes nothing with %s, and the rest of the push is taken',
    async (_, line, i) => {
      const { database, writer } = await sharedWriter();
      // Each claim beats the one before.
      const good = claimOf({ configuration: DEFAULT_CONFIGURATION, evidence: { processes: 5 + i } });
      const { changed, refused } = await given(writer.push([line as Line, good], LONG));
      expect(changed).toMatchObject({ claims: 1, marks: 0, trials: 0 });
      expect(Object.values(refused)).toEqual([1]);
      const stored = await database.query('SELECT processes FROM iree_tuned.claim');
      expect(stored).toEqual([{ processes: 5 + i }]);
    },
  );

  test('cannot inject SQL through a text', async () => {
    const text = `'); DROP TABLE iree_tuned.claim; -- "\${x}" %s \\ $$ util.func @f() { "x"() : () -> () } <script>`;
    const database = await teamDatabase();
    const writer = await clientAs(database, 'writer');
    const origin = { createdBy: text, machine: text, tool: text };
    const lines = [
      ...partsOf(),
      claimOf({ origin }),
      markOf({ ...origin, reason: text }),
      trialOf(1, { ...origin, message: text, strategy: text }),
    ];
    expect((await given(writer.push(lines, LONG))).changed).toMatchObject({ claims: 1, marks: 1, trials: 1 });
    const lined = await everything(writer);
    expect(ofType(lined, 'claim')[0]).toEqual(lines[4]);
    expect(ofType(lined, 'mark')[0]).toEqual(lines[5]);
    expect((await given((await clientAs(database, 'worker')).trials(SUBJECT, LONG))).lines).toEqual([
      lines[6],
    ]);
  });

  test('sends lines that receivers ignore and count', async () => {
    const forged = { ...claim, digest: 'f'.repeat(64) };
    const other = claimOf({ configuration: { ...TILE, peeling: false } });
    const strange = { ...other, configuration: { version: 1, kind: 'tile', mlir: 'module {}' } };
    const { database } = await raw([forged, strange, other]);
    const reader = await clientAs(database, 'reader');
    const answer = await given(reader.ask(QUESTION, LONG));
    expect(ofType(answer.lines, 'claim')).toEqual([other]);
    expect(answer.ignored).toBe(2);
  });

  test('cannot exceed the size limit of a push', async () => {
    const { answer } = await raw(Array.from({ length: 4001 }, () => ({ type: 'unknown', version: 1 })));
    // The client bisects it, and the halves fit.
    expect(answer).toMatchObject({ ok: true, value: { changed: { claims: 0 } } });
  });
});
