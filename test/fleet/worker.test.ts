// Workers that are killed, told to end and left without their server: nothing is lost, and nobody measures beside another one.
import { spawn } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { HEARTBEAT_SECONDS } from '../../src/fleet/boss.ts';
import { queueStates } from '../../src/fleet/overview.ts';
import { openTeam } from '../../src/team/postgres.ts';
import { temporaryDirectory } from '../support/folders.ts';
import { startServer, testServer, whyNoPostgres, type TestServer } from '../support/postgres.ts';
import { client, given, LONG } from '../team/support.ts';
import { NODE_CODE } from '../support/node-code.ts';
import { databaseOf, fleetDatabase, PLACE, want, wantedOn } from './support.ts';

interface Note {
  readonly at: number;
  readonly worker: string;
  readonly deed: 'begins' | 'ends' | 'met' | 'says';
  readonly what: string;
}

/** A server with what builds want, and workers for it. */
async function fleetOf(server: TestServer, jobs: number) {
  const database = await fleetDatabase(server);
  const folder = temporaryDirectory();
  const url = await database.login('worker', { in: 'iree_tuned_worker' });
  const team = openTeam(url, {});
  // A build on a machine where nobody works, of the same class.
  await want(
    team,
    Array.from({ length: jobs }, (_, m) => wantedOn('Z', m + 1)),
  );
  team.close();
  const notes = (): Note[] => {
    let text: string;
    try {
      text = readFileSync(join(folder, 'notes'), 'utf8');
    } catch {
      return [];
    }
    return text
      .split('\n')
      .slice(0, -1)
      .map((line) => {
        const [at = '', worker = '', deed = '', what = ''] = line.split('\t');
        return { at: Number(at), worker, deed: deed as Note['deed'], what };
      });
  };
  const start = (name: string, { untilIdle = false, drain = 20 } = {}) => {
    const child = spawn(
      process.execPath,
      [
        '--conditions=source',
        join(import.meta.dirname, 'child.ts'),
        ...[url, name, folder, String(untilIdle), String(drain)],
      ],
      { env: { ...process.env, ...NODE_CODE }, stdio: ['ignore', 'inherit', 'inherit'] },
    );
    onTestFinished(() => {
      child.kill('SIGKILL');
    });
    const ended = new Promise<number | NodeJS.Signals | null>((resolve) =>
      child.on('close', (code, signal) => {
        resolve(code ?? signal);
      }),
    );
    return { child, ended };
  };
  const until = async (condition: (all: readonly Note[]) => boolean) => {
    while (!condition(notes())) await sleep(50);
  };
  const hold = (name: string) => {
    writeFileSync(join(folder, `hold-${name}`), '');
    return () => {
      rmSync(join(folder, `hold-${name}`));
    };
  };
  return { database, url, notes, start, until, hold };
}

const endsOf = (all: readonly Note[]) => all.filter(({ deed }) => deed === 'ends');

/** Pairs of measurements on one machine of which one began before the other had ended; a killed worker's ends when it is killed. */
function overlaps(all: readonly Note[], killed: Readonly<Record<string, number>> = {}): string[] {
  const found: string[] = [];
  const open = new Map<string, Note>();
  for (const note of all.toSorted((a, b) => a.at - b.at)) {
    const machine = note.worker[0]!;
    const before = open.get(machine);
    if (note.deed === 'met') found.push(`${note.worker} met somebody`);
    if (note.deed === 'begins') {
      if (before !== undefined && !(killed[before.worker]! <= note.at))
        found.push(`${note.worker} began beside ${before.worker}`);
      open.set(machine, note);
    }
    if (note.deed === 'ends' && before?.worker === note.worker) open.delete(machine);
  }
  return found;
}

describe.skipIf(whyNoPostgres !== null)('a fleet', () => {
  test(
    'does 60 jobs, whoever of it is killed or told to end, and no two at a time on one machine',
    { timeout: 300_000 },
    async () => {
      const jobs = 60;
      const { database, url, notes, start, until, hold } = await fleetOf(await testServer(), jobs);
      hold('A1');
      const killed = start('A1');
      await until((all) => all.some(({ worker, deed }) => worker === 'A1' && deed === 'begins'));
      // Two workers on the machine of the one that is killed, which have to wait for each other.
      const [stopped, ...others] = ['B1', 'A2', 'A3', 'C1'].map((name) => start(name));
      await until((all) => endsOf(all).length >= 5);
      expect(notes().filter(({ worker, deed }) => /^A[23]/.test(worker) && deed === 'begins')).toEqual([]);
      const killedAt = Date.now();
      killed.child.kill('SIGKILL');
      expect(await killed.ended).toBe('SIGKILL');
      await until((all) => endsOf(all).some(({ worker }) => worker === 'B1'));
      stopped!.child.kill('SIGTERM');
      expect(await stopped!.ended).toBe(0);
      const held = notes().find(({ worker, deed }) => worker === 'A1' && deed === 'begins')!.what;
      await until((all) => endsOf(all).some(({ what }) => what === held));
      await until((all) => new Set(endsOf(all).map(({ what }) => what)).size === jobs);
      const team = client(url);
      const own = databaseOf(url);
      const rest = async () => {
        const [state] = await queueStates(own);
        return state!.waiting + state!.active;
      };
      while ((await rest()) > 0) await sleep(100);

      expect(overlaps(notes(), { A1: killedAt })).toEqual([]);
      expect(await queueStates(own)).toMatchObject([{ ...PLACE, waiting: 0, active: 0, done: jobs }]);
      const state = await given(team.fleet(LONG));
      expect(state).toMatchObject({ wanted: 0, refused: [] });
      // The one that was told to end has said so, the one that was killed could not.
      expect(state.workers).toHaveLength(4);
      const [counts] = await database.query(
        `SELECT count(DISTINCT s.workload)::integer AS workloads, count(DISTINCT s.device)::integer AS devices
         FROM iree_tuned.claim AS c JOIN iree_tuned.subject AS s ON s.id = c.subject`,
      );
      expect(counts).toEqual({ workloads: jobs, devices: 3 });
      // Trials that the killed one has told stay, too.
      const [trials] = await database.query(
        'SELECT count(DISTINCT t.subject)::integer AS subjects FROM iree_tuned.trial AS t',
      );
      expect(trials!['subjects']).toBeGreaterThanOrEqual(jobs);
      const again = notes().find(
        ({ worker, deed, what }) => worker !== 'A1' && deed === 'begins' && what === held,
      )!;
      const seconds = (again.at - killedAt) / 1000;
      // It was nobody's turn before the killed one had been silent for long enough.
      expect(seconds).toBeGreaterThan(HEARTBEAT_SECONDS / 2);
      process.stderr.write(`what a killed worker held was taken up after ${seconds.toFixed(1)} s\n`);
      for (const { child } of others) child.kill('SIGTERM');
      expect(await Promise.all(others.map(({ ended }) => ended))).toEqual([0, 0, 0]);
      expect((await given(team.fleet(LONG))).workers).toHaveLength(1);
    },
  );

  test('loses nothing when its server is started anew in the middle', { timeout: 300_000 }, async () => {
    const server = await startServer();
    onTestFinished(() => server.stop());
    const jobs = 12;
    const { database, url, notes, start, until, hold } = await fleetOf(server, jobs);
    const release = hold('A1');
    const workers = ['A1', 'B1'].map((name) => start(name));
    await until((all) => all.some(({ worker, deed }) => worker === 'A1' && deed === 'begins'));
    await until((all) => endsOf(all).length >= 3);
    await server.stop();
    // What is measured meanwhile is told when the server is there again.
    release();
    await until((all) => endsOf(all).some(({ worker }) => worker === 'A1'));
    await until((all) => all.some(({ deed, what }) => deed === 'says' && /cannot be reached/.test(what)));
    await server.start();
    await until((all) => new Set(endsOf(all).map(({ what }) => what)).size === jobs);
    const own = databaseOf(url);
    while (((await queueStates(own).catch(() => []))[0]?.done ?? 0) < jobs) await sleep(100);
    expect(overlaps(notes())).toEqual([]);
    expect(
      await database.query(
        `SELECT count(DISTINCT s.workload)::integer AS workloads
         FROM iree_tuned.claim AS c JOIN iree_tuned.subject AS s ON s.id = c.subject`,
      ),
    ).toEqual([{ workloads: jobs }]);
    // Told to end while the server is away, it ends all the same.
    await server.stop();
    for (const { child } of workers) child.kill('SIGTERM');
    expect(await Promise.all(workers.map(({ ended }) => ended))).toEqual([0, 0]);
    await server.start();
  });

  test('hands back what does not end in time, and ends at once when it is told twice', async () => {
    const { url, start, until, hold, notes } = await fleetOf(await testServer(), 2);
    hold('A1');
    const first = start('A1');
    await until((all) => all.some(({ deed }) => deed === 'begins'));
    first.child.kill('SIGTERM');
    await until((all) => all.some(({ deed, what }) => deed === 'says' && what.startsWith('SIGTERM')));
    first.child.kill('SIGTERM');
    expect(await first.ended).toBe(143);
    // Its file never goes: after the time that it is given the job is handed back.
    hold('B1');
    const second = start('B1', { drain: 1 });
    await until((all) => all.some(({ worker, deed }) => worker === 'B1' && deed === 'begins'));
    second.child.kill('SIGTERM');
    expect(await second.ended).toBe(0);
    expect(notes().some(({ worker, what }) => worker === 'B1' && what.startsWith('handed back'))).toBe(true);
    const [state] = await queueStates(databaseOf(url));
    expect(state).toMatchObject({ done: 0 });
    expect(state!.waiting - state!.retried).toBe(1);
    const third = start('C1', { untilIdle: true });
    expect(await third.ended).toBe(0);
    expect((await queueStates(databaseOf(url)))[0]!.done).toBeGreaterThan(0);
  });
});
