// @module-tag slow
// Random actions of two writers and an administrator: the databases end as the model says.
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { seededRandom } from '../../src/search/strategy.ts';
import { openExchange } from '../../src/store/open-exchange.ts';
import type { Exchange } from '../../src/store/exchange/exchange.ts';
import type { ClaimLine, Line, RevocationLine } from '../../src/store/exchange/lines.ts';
import { pull, push } from '../../src/team/exchange.ts';
import type { Team } from '../../src/team/team.ts';
import { temporaryDirectory } from '../support/folders.ts';
import { isFull, isWithout } from '../support/needs.ts';
import { whyNoPostgres, type TestDatabase } from '../support/postgres.ts';
import {
  ModelClient,
  ModelServer,
  keyOf,
  type Person,
  type Revoked,
  type Writer,
} from './simulation-model.ts';
import { claimOf, client, given, LONG, partsOf, SUBJECT, subjectOf, teamDatabase, TILE } from './support.ts';

const SESSIONS = isFull ? 1000 : 20;
const STEPS = 16;
const FILTER = { target: SUBJECT.target, compiler: SUBJECT.compiler };
const WRITERS = ['ada', 'bob'] as const;

const PERSONS = [...WRITERS, 'grace'] as const;
const SUBJECTS = [subjectOf(1), subjectOf(2)];
const CONFIGURATIONS = [TILE, { version: 1, kind: 'default' }] as const;

/** Tables that a session fills, in the order in which rows can be deleted. */
const TABLES = [
  'claim',
  'revocation',
  'subject',
  'workload',
  'target',
  'compiler',
  'device',
  'configuration',
  'origin',
];

const text = ({ scope, value }: Revoked) => `${scope} ${value}`;

async function world() {
  const database = await teamDatabase();
  const urls = { ada: '', bob: '', grace: '' };
  for (const name of WRITERS) urls[name] = await database.login(name, { in: 'iree_tuned_writer' });
  urls.grace = await database.login('grace', { in: 'iree_tuned_administrator' });
  const teams = { ada: client(urls.ada), bob: client(urls.bob), grace: client(urls.grace) };
  const blank = join(temporaryDirectory(), 'blank.db');
  openExchange(blank).close();
  return { database, teams, blank };
}

/** One session. Its log is part of a failure. */
async function session(
  { database, teams, blank }: { database: TestDatabase; teams: Record<Person, Team>; blank: string },
  seed: number,
) {
  const random = seededRandom(seed);
  const oneOf = <T>(all: readonly T[]): T => all[Math.floor(random() * all.length)]!;
  const emptied = TABLES.map((table) => `DELETE FROM iree_tuned.${table}`).join('; ');
  await database.query(`${emptied}; UPDATE iree_tuned.meta SET server = gen_random_uuid()`);
  const loginOf = (name: string) => `${name}_${database.name}`;
  const log: string[] = [];
  const folder = temporaryDirectory();
  const local = Object.fromEntries(
    PERSONS.map((name) => {
      copyFileSync(blank, join(folder, `${name}.db`));
      return [name, openExchange(join(folder, `${name}.db`))];
    }),
  ) as Record<Person, Exchange>;
  const server = new ModelServer(loginOf);
  const model = { ada: new ModelClient(), bob: new ModelClient(), grace: new ModelClient() };
  const measured: ClaimLine[] = [];

  const tell = (who: Person, lines: readonly Line[], source: 'file' | 'team') =>
    local[who].receive(
      lines.map((line) => ({ outcome: 'line' as const, line })),
      source,
    );
  const identity = (who: Person) => given(teams[who].identify(LONG));
  const pushAll = async (writer: Writer) => {
    await push(teams[writer], local[writer], await identity(writer), { limitMs: LONG, allTrials: false });
    model[writer].push(writer, server);
  };
  const pullAll = async (who: Person) => {
    await given(pull(teams[who], local[who], FILTER, await identity(who), LONG));
    model[who].pull(server);
  };
  const lineOf = (one: Revoked): RevocationLine => ({
    ...{ type: 'revocation', version: 1, ...one, reason: 'for a test' },
    ...{ createdAt: '2026-03-01T00:00:00Z', createdBy: 'somebody' },
  });
  const somethingRevocable = (): Revoked =>
    random() < 0.5 && measured.length > 0
      ? { scope: 'record', value: oneOf(measured).digest }
      : {
          scope: 'origin',
          value: oneOf(
            WRITERS.flatMap((name) => [name, `host of ${name}`, `${name}@host of ${name}`, loginOf(name)]),
          ),
        };

  const deeds: Record<string, () => Promise<void> | void> = {
    measure() {
      const writer = oneOf(WRITERS);
      const subject = oneOf(SUBJECTS);
      const claim = claimOf({
        ...{ subject, configuration: oneOf(CONFIGURATIONS) },
        evidence: { processes: 5 + Math.floor(random() * 5) },
        origin: { createdBy: writer, machine: `host of ${writer}` },
      });
      log.push(`${writer} measures ${keyOf(claim)} ${claim.evidence.processes} ${claim.digest.slice(0, 6)}`);
      measured.push(claim);
      tell(writer, [...partsOf(subject), claim], 'file');
      model[writer].measure(claim);
    },
    async push() {
      const writer = oneOf(WRITERS);
      log.push(`${writer} pushes`);
      await pushAll(writer);
    },
    async pull() {
      const who = oneOf(PERSONS);
      log.push(`${who} pulls`);
      await pullAll(who);
    },
    async revoke() {
      const who = oneOf(PERSONS);
      const one = somethingRevocable();
      log.push(`${who} revokes ${text(one)}`);
      const { ok } = await teams[who].revoke(lineOf(one), LONG);
      expect(ok, 'whether a revocation is taken').toBe(server.revoke(who, one));
      if (!ok) return;
      tell(who, [lineOf(one)], 'team');
      model[who].revoke(one, true);
    },
    revokeWithoutServer() {
      const writer = oneOf(WRITERS);
      const one = somethingRevocable();
      log.push(`${writer} revokes ${text(one)} at home`);
      tell(writer, [lineOf(one)], 'file');
      model[writer].revoke(one, false);
    },
    async restore() {
      const all = [...server.revocations.values()].map(({ revoked }) => revoked);
      const one = all.length > 0 ? oneOf(all) : somethingRevocable();
      log.push(`grace restores ${text(one)}`);
      await database.query('SELECT iree_tuned.restore($1, $2)', [one.scope, one.value]);
      server.restore(one);
      const who = oneOf(PERSONS);
      log.push(`${who} restores ${text(one)}`);
      local[who].restore(one);
      model[who].restore(one);
    },
    async distrust() {
      const writer = oneOf(WRITERS);
      log.push(`grace distrusts ${writer}`);
      await database.query('SELECT iree_tuned.distrust($1)', [loginOf(writer)]);
      server.distrust(writer);
    },
    async comeBack() {
      const writer = oneOf(WRITERS);
      log.push(`${writer} comes back`);
      await database.query('SELECT iree_tuned.trust($1)', [loginOf(writer)]);
      server.trust(writer);
      await pushAll(writer);
      await pullAll(writer);
    },
  };
  /** Ordinary actions are more frequent than faults. */
  const choice = Object.entries({
    ...{
      measure: 5,
      push: 5,
      pull: 4,
      revoke: 2,
      revokeWithoutServer: 1,
      restore: 1,
      distrust: 3,
      comeBack: 2,
    },
  }).flatMap(([name, weight]) => Array.from({ length: weight }, () => name));

  const ofServer = async () => ({
    claims: (
      await database.query(
        `SELECT encode(c.digest, 'hex') AS digest FROM iree_tuned.claim AS c ORDER BY digest`,
      )
    ).map(({ digest }) => digest),
    revocations: (
      await database.query(
        `SELECT scope, value FROM iree_tuned.revocation ORDER BY scope || ' ' || value COLLATE "C"`,
      )
    ).map((row) => text(row as unknown as Revoked)),
    served: (await given(teams.grace.pull(FILTER, null, LONG))).lines
      .flatMap((line) => (line.type === 'claim' ? [line.digest] : []))
      .sort(),
  });
  const ofPerson = (who: Person) => {
    const lines = [...local[who].lines({}, () => undefined)].map((line) => JSON.parse(line) as Line);
    return {
      claims: lines.flatMap((line) => (line.type === 'claim' ? [line.digest] : [])).sort(),
      revocations: lines.flatMap((line) => (line.type === 'revocation' ? [text(line)] : [])).sort(),
    };
  };
  const compare = async () => {
    expect(await ofServer()).toEqual({
      claims: [...server.claims.values()].map(({ claim }) => claim.digest).sort(),
      revocations: [...server.revocations.keys()].sort(),
      served: server
        .served()
        .map(({ claim }) => claim.digest)
        .sort(),
    });
    for (const who of PERSONS)
      expect({ who, ...ofPerson(who) }).toEqual({
        who,
        claims: [...model[who].claims.values()].map(({ claim }) => claim.digest).sort(),
        revocations: [...model[who].revocations.keys()].sort(),
      });
  };

  try {
    for (let step = 0; step < STEPS; step++) await deeds[oneOf(choice)]!();
    await compare();
    // At the end all logins are trusted and push, so no claim is lost.
    for (const writer of WRITERS) {
      await database.query('SELECT iree_tuned.trust($1)', [loginOf(writer)]);
      server.trust(writer);
    }
    for (const who of PERSONS) await pullAll(who);
    for (const writer of WRITERS) await pushAll(writer);
    for (const who of PERSONS) await pullAll(who);
    await compare();
    const served = new Map(server.served().map(({ claim }) => [keyOf(claim), claim]));
    for (const writer of WRITERS)
      for (const { claim, change } of model[writer].claims.values())
        if (change !== null && !server.isRevoked(claim, writer))
          expect(served.get(keyOf(claim))!.evidence.processes).toBeGreaterThanOrEqual(
            claim.evidence.processes,
          );
    for (const who of PERSONS)
      for (const [key, claim] of served)
        if (!model[who].isRevoked(claim))
          expect(model[who].isRevoked(model[who].claims.get(key)!.claim)).toBe(false);
  } catch (error) {
    throw new Error(`session ${seed}:\n${log.join('\n')}\n${String(error)}`, { cause: error });
  } finally {
    for (const who of PERSONS) local[who].close();
  }
}

describe.skipIf(isWithout(whyNoPostgres))('two writers and an administrator', () => {
  test(`end ${SESSIONS} sessions in the state of the model`, { timeout: 600_000 }, async () => {
    const here = await world();
    for (let seed = 1; seed <= SESSIONS; seed++) await session(here, seed);
  });
});
