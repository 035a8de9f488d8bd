// A list of shapes, a worker that tunes it, and builds with hits, by the command lines alone.
// In full after a change of src/fleet, src/cli/team.
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { runWithJobs, type RunWithJobs } from '../../src/cli/team/queue.ts';
import type { RunState } from '../../src/fleet/overview.ts';
import { databaseOf, fleetDatabase } from '../fleet/support.ts';
import { temporaryDirectory } from '../support/folders.ts';
import { isWithout } from '../support/needs.ts';
import { whyNoPostgres } from '../support/postgres.ts';
import { root } from '../support/real-tools.ts';
import { HOST, matmulModule, oddMatmul, rowsOf, Workplace, TUNED, argv } from './support.ts';

const HANGS = { timeout: 300_000 };

/** Settings of a fleet with a base of its own. */
const fleetOf = async () => {
  const database = await fleetDatabase();
  const base = temporaryDirectory();
  const settings = { IREE_TUNED_FLEET: database.url, IREE_TUNED_TEAM: base };
  return { database, base, settings, ofWorker: { ...settings, IREE_TUNED_TEAM_PUBLISH: 'now' } };
};
const asked = (place: Workplace, ...words: string[]) =>
  place.asked<Record<string, unknown>>([...words, '--json']);

const PROGRAMS = 20;

const SHAPE = ['--m', '61', '--n', '67', '--k', '71', '--rhs-constant', 'no'];

describe.skipIf(isWithout(whyNoPostgres))('a fleet', HANGS, () => {
  test('a worker tunes submitted shapes, and the next build has hits', async () => {
    const { settings, ofWorker } = await fleetOf();
    const ci = new Workplace({ ...settings, IREE_TUNED_BUDGET: '0' });
    ci.write('in.mlir', oddMatmul);
    const build = async () => (await ci.explain(argv)).explanation.operations[0]!;
    expect(await build()).toMatchObject({ outcome: 'default' });

    const zen4 = Workplace.simulated(ofWorker);
    const worker = zen4.start(TUNED, ['team', 'worker', '--', ...HOST]);
    const submitted = await ci.tuned(['tune', ...SHAPE, '--fleet', '--json', '--', ...HOST]);
    expect(submitted).toMatchObject({ code: 0 });
    expect(JSON.parse(submitted.stdout)).toMatchObject({ results: [{ outcome: 'tuned' }] });
    worker.child.kill('SIGTERM');
    const { code, stdout, stderr } = await worker.ended;
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout.toString()).toMatch(
      / took contraction m=61 n=67 k=71 [^]*done contraction .*: \d+\.\d\dx\n/,
    );
    expect(await asked(zen4, 'team', 'queue')).toMatchObject({
      queues: [{ waiting: 0, active: 0, done: 1, failed: 0, workers: 0 }],
      jobs: [],
    });
    expect(await build()).toMatchObject({ outcome: 'hit' });
    // Nothing was measured here, and the same list needs no work.
    expect(rowsOf(ci, 'trial')).toBe(0);
    const again = await ci.tuned(['tune', ...SHAPE, '--fleet', '--json', '--', ...HOST]);
    expect(JSON.parse(again.stdout)).toMatchObject({ plan: { known: [{}], todo: [] } });
  });

  test('the misses of a build become jobs at the next publication', async () => {
    const { base, settings, ofWorker } = await fleetOf();
    const ofCi = { IREE_TUNED_BUDGET: '0', IREE_TUNED_ON_MISS: 'record', IREE_TUNED_TEAM_PUBLISH: 'inbox' };
    const ci = new Workplace({ IREE_TUNED_TEAM: base, ...ofCi });
    ci.write('in.mlir', oddMatmul);
    await ci.compile(argv);
    const inbox = join(base, 'inbox');
    while (!existsSync(inbox) || readdirSync(inbox).every((name) => !name.endsWith('.misses.gz')))
      await sleep(50);
    const publisher = new Workplace(settings);
    expect(await asked(publisher, 'team', 'publish', base)).toMatchObject({ submitted: 1 });
    expect(readdirSync(inbox)).toEqual([]);
    const zen4 = Workplace.simulated(ofWorker);
    expect(await zen4.said(['team', 'worker', '--until-idle', '--', ...HOST])).toMatch(/ends, 1 done/);
    expect((await ci.explain(argv)).explanation.operations).toMatchObject([{ outcome: 'hit' }]);
  });

  test('an undecided job fails after some attempts, and can be retried', async () => {
    const { database, ofWorker, settings } = await fleetOf();
    const zen4 = Workplace.simulated(ofWorker, { isRefusing: true });
    const ci = new Workplace(settings);
    await ci.tuned(['tune', ...SHAPE, '--fleet', '--detach', '--', ...HOST]);
    let said = '';
    const jobs = async () => (await asked(zen4, 'team', 'queue'))['jobs'] as { id: string }[];
    while ((await jobs()).length === 0) {
      await database.query(
        `UPDATE iree_tuned_queue.job SET start_after = now() - interval '1 minute' WHERE state = 'retry'`,
      );
      said += await zen4.said(['team', 'worker', '--until-idle', '--', ...HOST]);
    }
    expect(said.match(/failed contraction .*: cannot be decided/g)).toHaveLength(5);
    const [job] = await jobs();
    expect(job).toMatchObject({
      ...{ state: 'failed', attempts: 5 },
      reason: expect.stringContaining('cannot be decided') as string,
    });
    const log = await zen4.said(['team', 'runs', job!.id.slice(0, 8), '--log']);
    expect(log.match(/failed: cannot be decided/g)).toHaveLength(5);
    expect(await asked(zen4, 'team', 'runs', job!.id.slice(0, 8), '--retry')).toEqual({ retried: [job!.id] });
    expect(await asked(zen4, 'team', 'queue')).toMatchObject({ jobs: [], queues: [{ waiting: 1 }] });
  });

  test('a worker ends if the base revokes its machine', async () => {
    const { base, settings, ofWorker } = await fleetOf();
    const zen4 = Workplace.simulated(ofWorker);
    const work = () => zen4.tuned(['team', 'worker', '--until-idle', '--', ...HOST]);
    await new Workplace(settings).tuned(['tune', ...SHAPE, '--fleet', '--detach', '--', ...HOST]);
    expect(await work()).toMatchObject({ code: 0, stderr: '' });
    const other = new Workplace();
    await other.said(['db', 'revoke', '--origin', hostname(), '--reason', 'a broken fan']);
    await other.said(['team', 'publish', base]);
    const { code, stderr } = await work();
    expect(code).toBe(1);
    expect(stderr).toContain(
      `records of this machine are ignored: origin ${hostname()} is revoked (a broken fan)`,
    );
  });

  test(
    'a killed worker and a cancelled job keep no other program from the inbox',
    { tags: 'full', timeout: 900_000 },
    async () => {
      const { database, base, settings } = await fleetOf();
      const ofWorker = { ...settings, IREE_TUNED_TEAM_PUBLISH: 'inbox' };
      const models = join(base, 'models');
      mkdirSync(models);
      for (let i = 0; i < PROGRAMS; i++)
        writeFileSync(join(models, `${i}.mlir`), matmulModule(33 + i, 24, 16));
      const ci = new Workplace(settings);
      const submission = ['tune', models, '--fleet', '--detach', '--budget', '300', '--json', '--', ...HOST];
      const { code, stdout } = await ci.tuned(submission);
      expect(code).toBe(0);
      const [{ run }] = (JSON.parse(stdout) as { runs: [RunWithJobs] }).runs;
      expect(run).toMatchObject({ waiting: PROGRAMS, workers: 0 });
      const own = databaseOf(database.url);
      const until = async (condition: (now: RunState) => boolean) => {
        for (;;) {
          const now = await runWithJobs(own, run!.id);
          if (condition(now.run!)) return now;
          await sleep(300);
        }
      };

      const [first, second] = [Workplace.simulated(ofWorker), Workplace.simulated(ofWorker)];
      const start = (place: Workplace) => place.start(TUNED, ['team', 'worker', '--', ...HOST]);
      first.write('hold', '');
      const killed = start(first);
      const { jobs } = await until(({ active }) => active === 1);
      killed.child.kill('SIGKILL');
      const waiting = jobs.find(({ state }) => state === 'waiting')!;
      expect(await asked(ci, 'team', 'runs', waiting.id, '--cancel')).toEqual({ cancelled: [waiting.id] });
      // The queue frees the job of a silent worker. Both workers are on one machine, which leaves the retry to others for a minute.
      await database.query(
        `UPDATE iree_tuned_queue.job SET heartbeat_on = heartbeat_on - interval '1 minute' WHERE state = 'active'`,
      );
      const worker = start(second);
      await until(({ active, waiting: left }) => active + left === 1);
      await database.query(
        `UPDATE iree_tuned_queue.job SET start_after = start_after - interval '1 minute' WHERE state = 'retry'`,
      );
      const ended = await until(({ active, waiting: left }) => active + left === 0);
      worker.child.kill('SIGTERM');
      expect(await worker.ended).toMatchObject({ code: 0, stderr: '' });
      expect(ended.run).toMatchObject({ done: PROGRAMS - 1, cancelled: 1, failed: 0 });
      const { databases } = await asked(new Workplace(), 'team', 'publish', base);
      expect(databases).toMatchObject([{ claims: PROGRAMS - 1 }]);
    },
  );

  test('commands without what they need end with the reason', async () => {
    const { settings } = await fleetOf();
    const place = new Workplace(settings);
    const refusal = async (env: Record<string, string>, ...words: string[]) => {
      const { code, stderr } = await place.tuned(['team', 'worker', ...words], { env });
      expect(code).toBe(words.includes('--') ? 1 : 2);
      return stderr;
    };
    expect(await refusal({ IREE_TUNED_TEAM: '' })).toContain('set IREE_TUNED_TEAM to its folder or address');
    expect(await refusal({ IREE_TUNED_FLEET: '' })).toContain('set IREE_TUNED_FLEET');
    expect(await refusal({ IREE_TUNED_READONLY: '1' })).toContain('IREE_TUNED_READONLY is set: unset it');
    expect(await refusal({}, '--budget', '0')).toContain('needs time to tune');
    expect(await refusal({}, '--drain', 'long')).toContain(
      'It takes a time such as 90s or 15m, up to a day.',
    );
    const other = HOST.map((flag) => flag.replace('llvm-cpu', 'vmvx'));
    expect(await refusal({}, '--', ...other)).toMatch(/nothing can be measured here/);
    const gone = await place.tuned(['tune', ...SHAPE, '--fleet', '--', ...HOST], {
      env: { IREE_TUNED_FLEET: 'postgres://nobody@127.0.0.1:9/none' },
    });
    expect(gone).toMatchObject({ code: 1, stderr: expect.stringContaining('127.0.0.1:9') as string });
  });
});

test('builds load no code of the queue', () => {
  const folder = join(root, 'dist', 'current');
  const bundles = readdirSync(folder).filter((name) => name.endsWith('.cjs'));
  expect(bundles).toContain('on-demand.cjs');
  for (const name of bundles) expect(readFileSync(join(folder, name), 'utf8')).not.toMatch(/pg-?boss/i);
});
