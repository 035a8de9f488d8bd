// @module-tag slow
// Two machines that exchange records through a server.
import { describe, expect, onTestFinished, test } from 'vitest';
import { DEFAULT_CONFIGURATION } from '../../src/backend/configuration.ts';
import type { Exchange } from '../../src/store/exchange/exchange.ts';
import type { Line } from '../../src/store/exchange/lines.ts';
import { readLine } from '../../src/store/exchange/read.ts';
import { openExchange } from '../../src/store/open-exchange.ts';
import { shortHash } from '../../src/system/hash.ts';
import { pull, push, type PushOptions } from '../../src/team/exchange.ts';
import type { Filter, Team } from '../../src/team/team.ts';
import { alter, RUN, temporaryPath } from '../store/support.ts';
import { isWithout } from '../support/needs.ts';
import { whyNoPostgres, type TestDatabase } from '../support/postgres.ts';
import {
  claimOf,
  clientAs,
  given,
  LONG,
  markOf,
  partsOf,
  refusal,
  revocationOf,
  SUBJECT,
  subjectOf,
  teamDatabase,
  TILE,
  trialOf,
} from './support.ts';

const FILTER: Filter = { target: SUBJECT.target, compiler: SUBJECT.compiler };
const ALL: PushOptions = { limitMs: LONG, allTrials: false };

/** A local database, and its owner's actions on a server. */
function machine(team: Team, path = temporaryPath()) {
  const local: Exchange = openExchange(path);
  onTestFinished(() => {
    local.close();
  });
  const server = () => given(team.identify(LONG));
  return {
    team,
    path,
    local,
    tell: (...lines: Line[]) =>
      local.receive(
        lines.map((line) => ({ outcome: 'line' as const, line })),
        'file',
      ),
    pull: async (filter = FILTER) => given(pull(team, local, filter, await server(), LONG)),
    push: async (options = ALL) => given(push(team, local, await server(), options)),
    lines: () => [...local.lines({}, () => undefined)].map((text) => JSON.parse(text) as Line),
  };
}

async function twoMachines(): Promise<
  [ReturnType<typeof machine>, ReturnType<typeof machine>, TestDatabase]
> {
  const database = await teamDatabase();
  return [
    machine(await clientAs(database, 'writer', 'ada')),
    machine(await clientAs(database, 'writer', 'bob')),
    database,
  ];
}

describe.skipIf(isWithout(whyNoPostgres))('two machines', () => {
  test('reach the same content through a server, and then push nothing more', async () => {
    const [ada, bob] = await twoMachines();
    const revocation = revocationOf('record', 'f'.repeat(64));
    ada.tell(...partsOf(), claimOf(), markOf({ kind: 'slower' }), revocation);
    bob.tell(
      ...partsOf(),
      claimOf({ evidence: { processes: 9, families: ['tile'] }, origin: { createdBy: 'bob' } }),
      claimOf({ configuration: DEFAULT_CONFIGURATION, origin: { createdBy: 'bob' } }),
      markOf({ kind: 'slower', createdBy: 'bob' }),
    );
    expect((await ada.push()).changed).toEqual({ claims: 1, marks: 1, trials: 0, revocations: 1 });
    expect(await bob.pull()).toMatchObject({ added: 3, ignored: 0, restarted: false });
    expect((await bob.push()).changed).toMatchObject({ claims: 2, marks: 1 });
    await ada.pull();
    expect(ada.lines()).toEqual(bob.lines());
    expect(ada.lines().filter(({ type }) => type === 'claim')).toHaveLength(2);
    for (const one of [ada, bob]) {
      await one.pull();
      expect(await one.push()).toMatchObject({ sent: 0, complete: true });
    }
  });

  test('pull records of their targets only, each with its own cursor', async () => {
    const [ada, bob] = await twoMachines();
    const elsewhere = subjectOf(3, { target: 'llvm-cpu elsewhere' });
    ada.tell(...partsOf(), claimOf(), ...partsOf(elsewhere), claimOf({ subject: elsewhere }));
    await ada.push();
    expect((await bob.pull()).received).toBe(5);
    expect((await bob.pull()).received).toBe(0);
    // The cursor of the first filter does not advance the second.
    expect((await bob.pull({ ...FILTER, target: elsewhere.target })).received).toBe(5);
  });

  test('start over with another server', async () => {
    const [ada, bob, database] = await twoMachines();
    ada.tell(...partsOf(), claimOf());
    await ada.push();
    await bob.pull();
    await database.query('UPDATE iree_tuned.meta SET epoch = epoch + 1');
    await database.query('DELETE FROM iree_tuned.claim');
    expect(await bob.pull()).toMatchObject({ restarted: true, received: 0 });
    // Ada pushes her claim again. Bob pulled it, so he does not push it.
    expect((await bob.push()).sent).toBe(0);
    expect((await ada.push()).changed.claims).toBe(1);
    expect(await bob.pull()).toMatchObject({ restarted: false, added: 0 });
  });

  test('keep pulled pages when a later page fails, and resume there', async () => {
    const database = await teamDatabase();
    const writer = await clientAs(database, 'writer', 'ada');
    for (let page = 0; page < 2; page++) {
      const subjects = Array.from({ length: 600 }, (_, i) => subjectOf(1 + page * 600 + i));
      const lines = subjects.flatMap((subject) => [partsOf(subject)[0]!, claimOf({ subject })]);
      await given(writer.push([...partsOf().slice(1), ...lines], LONG));
    }
    let calls = 0;
    const flaky: Team = {
      ...writer,
      pull: (...parameters) =>
        ++calls === 2
          ? Promise.resolve({ ok: false, failure: { kind: 'unreachable', reason: 'gone' } })
          : writer.pull(...parameters),
    };
    const bob = machine(flaky);
    const server = await given(writer.identify(LONG));
    expect(await refusal(pull(flaky, bob.local, FILTER, server, LONG))).toMatchObject({ reason: 'gone' });
    expect(bob.lines().filter(({ type }) => type === 'claim')).toHaveLength(1000);
    expect(await bob.pull()).toMatchObject({ restarted: false, ignored: 0 });
    expect(bob.lines().filter(({ type }) => type === 'claim')).toHaveLength(1200);
  });

  test('push batches until the limit, and the rest at the next push', async () => {
    const [ada] = await twoMachines();
    ada.tell(...partsOf(), claimOf());
    expect(await ada.push({ ...ALL, limitMs: 0 })).toMatchObject({ sent: 0, complete: false });
    expect(await ada.push()).toMatchObject({ changed: { claims: 1 }, complete: true });
  });

  test('push failed trials and finalists; workers push all trials', async () => {
    const database = await teamDatabase();
    const worker = await clientAs(database, 'worker');
    const run = {
      stage: RUN.stage,
      batch: 0,
      placement: RUN.placement,
      build: 0,
      seconds: [1],
      defaultSeconds: [2],
    };
    const trials = [
      trialOf(1),
      trialOf(2, { runs: [{ ...run, stage: 'search' }] }),
      trialOf(3, { runs: [run] }),
      trialOf(4, { outcome: 'timeout', seconds: null, ratio: null }),
    ];
    const [ada, fleet] = [machine(worker), machine(worker)];
    for (const one of [ada, fleet]) one.tell(...partsOf(), ...trials);
    expect((await ada.push()).changed.trials).toBe(2);
    expect((await fleet.push({ ...ALL, allTrials: true })).changed.trials).toBe(2);
    expect((await given(worker.trials(SUBJECT, LONG))).lines).toHaveLength(4);
  });

  test('report refused lines, and go on', async () => {
    const [ada, bob] = await twoMachines();
    bob.tell(...partsOf(), claimOf({ origin: { createdBy: 'bob' } }));
    await bob.push();
    ada.tell(
      ...partsOf(),
      claimOf({ evidence: { repetitions: 1e13 } }),
      markOf(),
      revocationOf('origin', 'bob'),
    );
    const { changed, refused } = await ada.push();
    expect(changed).toMatchObject({ claims: 0, marks: 1, revocations: 0 });
    expect(Object.keys(refused)).toEqual(
      expect.arrayContaining([
        'only an administrator revokes what others have brought',
        expect.stringContaining('claim_repetitions_check'),
      ]),
    );
    expect((await ada.push()).sent).toBe(0);
  });

  test('keep and count lines of a later version until an upgrade', async () => {
    const [ada, bob, database] = await twoMachines();
    ada.tell(...partsOf(), claimOf(), claimOf({ configuration: DEFAULT_CONFIGURATION }));
    await ada.push();
    // The server stores any configuration. Only a later version knows this kind.
    const later = `UPDATE iree_tuned.configuration SET body = $1 WHERE body->>'kind' = $2`;
    await database.query(later, [JSON.stringify({ ...TILE, kind: 'later' }), TILE.kind]);
    expect(await bob.pull()).toMatchObject({ received: 5, kept: 1, ignored: 0 });
    expect(await bob.pull()).toMatchObject({ received: 0, kept: 0 });
    expect(bob.local.health()).toMatchObject({ claims: 1, keptLines: 1 });
    // A pulled line is not pushed.
    expect(await bob.push()).toMatchObject({ sent: 0, kept: 0 });
    // Simulates an upgrade that knows the kind.
    const known = `UPDATE kept_line SET line = replace(line, '"later"', '"${TILE.kind}"')`;
    alter(bob.path, known);
    expect(bob.local.reread()).toBe(1);
    expect(bob.local.health()).toMatchObject({ claims: 2, keptLines: 0 });
    expect((await bob.pull()).received).toBe(0);
  });

  test('pull lines again that an earlier version of this program dropped', async () => {
    const [ada, bob] = await twoMachines();
    ada.tell(...partsOf(), claimOf());
    await ada.push();
    const server = await given(ada.team.identify(LONG));
    const page = await given(ada.team.pull(FILTER, null, LONG));
    const { target, compiler } = FILTER;
    const name = `${server.server} pull ${shortHash(JSON.stringify([target, compiler, '']))}`;
    bob.local.setPeer(name, { epoch: server.epoch, pulled: page.cursor.seq, pushed: 0 });
    expect(await bob.pull()).toMatchObject({ received: 5, added: 5 });
  });

  test('count unpushed lines of a later version, and push them after an upgrade', async () => {
    const [ada] = await twoMachines();
    ada.tell(...partsOf());
    const line = JSON.stringify({ ...claimOf(), configuration: { ...TILE, kind: 'later' } });
    ada.local.receive([readLine(line)], 'file');
    expect(await ada.push()).toMatchObject({ sent: 0, kept: 1 });
    expect(await ada.push()).toMatchObject({ sent: 0, kept: 0 });
    alter(ada.path, `UPDATE kept_line SET line = replace(line, '"later"', '"${TILE.kind}"')`);
    expect(ada.local.reread()).toBe(1);
    expect((await ada.push()).changed.claims).toBe(1);
  });

  test('report the number of lines that an older server does not know', async () => {
    const database = await teamDatabase();
    const writer = await clientAs(database, 'writer', 'ada');
    const later = [
      { ...claimOf(), version: 2 },
      { type: 'energy', version: 1, joules: 3 },
    ] as unknown as Line[];
    const { changed, refused } = await given(writer.push([...partsOf(), claimOf(), ...later], LONG));
    expect(changed.claims).toBe(1);
    expect(refused).toEqual({ 'of a version that the server does not know': 2 });
  });

  test('get a claim after its missing description arrives', async () => {
    const [ada, bob, database] = await twoMachines();
    const mallory = machine(await clientAs(database, 'writer', 'mallory'));
    // The first description of a key wins.
    mallory.tell(...partsOf(), claimOf({ configuration: DEFAULT_CONFIGURATION }));
    await mallory.push();
    ada.tell(...partsOf(), claimOf());
    await ada.push();
    await database.query(`SELECT iree_tuned.distrust('mallory_${database.name}')`);
    expect(await bob.pull()).toMatchObject({ added: 0, ignored: 1 });
    await ada.push();
    expect(await bob.pull()).toMatchObject({ restarted: false, added: 5, ignored: 0 });
  });

  test('get a losing claim after the winning claim is revoked, from either side', async () => {
    const [ada, bob, database] = await twoMachines();
    const [worse, better] = [5, 9].map((processes) =>
      claimOf({ evidence: { processes }, origin: { createdBy: processes === 5 ? 'bob' : 'ada' } }),
    );
    const revocation = revocationOf('record', better!.digest);
    ada.tell(...partsOf(), better!);
    bob.tell(...partsOf(), worse!);
    await bob.push();
    await ada.push();
    // The revocation comes after the losing claim, in the same pull.
    await given((await clientAs(database, 'administrator')).revoke(revocation, LONG));
    expect((await bob.push()).sent).toBe(0);
    await bob.pull();
    expect((await bob.push()).changed.claims).toBe(1);
    await ada.pull();
    expect(ada.lines()).toContainEqual(worse);
    // The revocation is local.
    const dora = machine(ada.team);
    dora.tell(...partsOf(), better!);
    await database.query('DELETE FROM iree_tuned.revocation');
    await dora.pull();
    expect(dora.lines()).toContainEqual(better);
    dora.tell(revocation);
    await dora.pull();
    expect(dora.lines()).toContainEqual(worse);
    expect((await dora.pull()).received).toBe(0);
  });
});
