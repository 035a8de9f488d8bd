// A build with misses, a worker that tunes them, and the next build with hits, by the command lines alone.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { workloadKey, type OperationWork } from '../../src/workload/workload.ts';
import { fleetDatabase } from '../fleet/support.ts';
import { isWithout } from '../support/needs.ts';
import { whyNoPostgres } from '../support/postgres.ts';
import { root } from '../support/real-tools.ts';
import { argv } from './faults/support.ts';
import { HOST, oddMatmul, rowsOf, Workplace } from './support.ts';

/** A long limit, because the server of a busy machine is slow. */
const PATIENT = { IREE_TUNED_TEAM_TIMEOUT: '60000' };
const HANGS = { timeout: 300_000 };

async function tuned(place: Workplace, ...words: string[]) {
  const { code, stdout, stderr } = await place.tuned(words);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return stdout.toString();
}
const asked = (place: Workplace, ...words: string[]) =>
  place.asked<Record<string, unknown>>([...words, '--json']);

describe.skipIf(isWithout(whyNoPostgres))('a build and a worker', HANGS, () => {
  test('a worker tunes the misses of a build, and the next build has hits', async () => {
    const database = await fleetDatabase();
    const [writer, worker] = [
      await database.login('ci', { in: 'iree_tuned_writer' }),
      await database.login('zen4', { in: 'iree_tuned_worker' }),
    ];
    const ci = new Workplace({ ...PATIENT, IREE_TUNED_TEAM: writer, IREE_TUNED_BUDGET: '0' });
    ci.write('in.mlir', oddMatmul);
    // This build measures nothing. It asks the database and the compiler.
    const build = async () => (await ci.explain(argv)).explanation.operations[0]!;
    expect(await build()).toMatchObject({ outcome: 'default' });

    const zen4 = Workplace.simulated({ IREE_TUNED_TEAM: worker });
    expect(await asked(zen4, 'team', 'queue')).toMatchObject({
      workers: [],
      wanted: 1,
      queues: [],
      dead: [],
    });
    const said = await tuned(zen4, 'team', 'worker', '--until-idle', '--', ...HOST);
    expect(said).toMatch(
      /planned 1\n.* took contraction m=61 n=67 k=71 [^]*done contraction .*: \d+\.\d\dx\n/,
    );
    expect(await asked(zen4, 'team', 'queue')).toMatchObject({
      workers: [],
      wanted: 0,
      queues: [{ waiting: 0, active: 0, done: 1 }],
      dead: [],
    });
    // The worker pushes all trials, and has no further work.
    const [trials] = await database.query('SELECT count(*)::integer AS trials FROM iree_tuned.trial');
    expect(trials!['trials']).toBeGreaterThan(10);
    expect(await tuned(zen4, 'team', 'worker', '--until-idle', '--', ...HOST)).toMatch(/ends, 0 done\n$/);

    await asked(ci, 'team', 'sync');
    expect(await build()).toMatchObject({ outcome: 'hit' });
  });

  test('a workload of one program only is refused, with the reason', { tags: 'full' }, async () => {
    const database = await fleetDatabase();
    const zen4 = Workplace.simulated({
      ...PATIENT,
      IREE_TUNED_TEAM: await database.login('zen4', { in: 'iree_tuned_worker' }),
    });
    zen4.write('in.mlir', oddMatmul);
    // A program with strided operands makes such a demand; the test changes another demand.
    await zen4.explain(argv, { env: { IREE_TUNED_BUDGET: '0' } });
    const [row] = await database.query('SELECT key, form FROM iree_tuned.workload');
    const form = {
      ...(JSON.parse(String(row!['form'])) as OperationWork),
      context: { digest: '0'.repeat(16) },
    };
    await database.query('UPDATE iree_tuned.workload SET key = $1, form = $2', [
      workloadKey(form),
      JSON.stringify(form),
    ]);
    expect(await tuned(zen4, 'team', 'worker', '--until-idle', '--', ...HOST)).toMatch(
      /cannot tune contraction .* in=0{16}: /,
    );
    expect(await asked(zen4, 'team', 'queue')).toMatchObject({
      wanted: 0,
      refused: [{ workload: workloadKey(form), builds: 1 }],
    });
    expect(await tuned(zen4, 'team', 'queue')).toMatch(
      /not tunable by workers .*\n.* in=0{16} .* tune the program/,
    );
  });

  test('an undecided job is dead after some attempts, and can be revived', { tags: 'full' }, async () => {
    const database = await fleetDatabase();
    const url = await database.login('zen4', { in: 'iree_tuned_worker' });
    const zen4 = Workplace.simulated({ ...PATIENT, IREE_TUNED_TEAM: url }, { isRefusing: true });
    zen4.write('in.mlir', oddMatmul);
    await zen4.explain(argv, { env: { IREE_TUNED_BUDGET: '0' } });
    let said = '';
    while (!/"dead": \[\n/.test(await tuned(zen4, 'team', 'queue', '--json'))) {
      await database.query(`UPDATE iree_tuned_queue.job SET start_after = now() WHERE state = 'retry'`);
      said += await tuned(zen4, 'team', 'worker', '--until-idle', '--', ...HOST);
    }
    expect(said.match(/failed contraction .*: cannot be decided/g)).toHaveLength(5);
    const { dead } = await asked(zen4, 'team', 'queue');
    const [job] = dead as [{ id: string }];
    expect(job).toMatchObject({
      attempts: 5,
      reason: expect.stringContaining('cannot be decided') as string,
    });
    expect(await asked(zen4, 'team', 'queue', '--retry', job.id.slice(0, 8))).toEqual({ retried: [job.id] });
    expect(await asked(zen4, 'team', 'queue')).toMatchObject({ dead: [], queues: [{ waiting: 1 }] });
  });

  test('populate gives its plan to workers, also for another device', { tags: 'full' }, async () => {
    const database = await fleetDatabase();
    const url = await database.login('zen4', { in: 'iree_tuned_worker' });
    const [zen4, laptop] = [
      Workplace.simulated({ ...PATIENT, IREE_TUNED_TEAM: url }),
      new Workplace({ ...PATIENT, IREE_TUNED_TEAM: url, IREE_TUNED_DEVICE: 'local-task' }),
    ];
    // The database has the device, so that it can have a name.
    zen4.write('in.mlir', oddMatmul);
    await zen4.explain(argv);
    await tuned(laptop, 'team', 'sync', '--', ...HOST);
    const prod = { IREE_TUNED_FOR_DEVICE: 'local-sync' };
    await tuned(laptop, 'device', 'name', 'local-sync', 'local-sync');
    const worker = zen4.start(join(root, 'bin', 'iree-tuned'), ['team', 'worker', '--', ...HOST]);
    const shapes = ['--m', '44,61', '--n', '67', '--k', '71', '--rhs-constant', 'no'];
    const populate = ['tune', ...shapes, '--fleet', '--json', '--', ...HOST];
    const { code, stdout, stderr } = await laptop.tuned(populate, { env: prod });
    worker.child.kill('SIGTERM');
    expect(await worker.ended).toMatchObject({ code: 0, stderr: '' });
    expect({ code, stderr }).toMatchObject({ code: 0 });
    const { plan, results } = JSON.parse(stdout.toString()) as Record<'plan' | 'results', never>;
    expect(plan).toMatchObject({ known: [{}], todo: [{}] });
    expect(results).toMatchObject([
      { workload: expect.stringContaining('m=44 ') as string, outcome: 'tuned' },
    ]);
    expect(rowsOf(laptop, 'trial')).toBe(0);
    // Each result is shown once a worker has pushed it.
    expect(stderr).toMatch(/1 to tune, of which 0 resume; 1 known.*\n.*: 1 of 1: m=44 /);

    // Another user's database has the team's records before planning, and no worker has anything to do.
    const other = new Workplace({
      ...PATIENT,
      IREE_TUNED_TEAM: url,
      IREE_TUNED_DEVICE: 'local-sync',
    });
    const again = await other.tuned(populate);
    expect(JSON.parse(again.stdout.toString())).toMatchObject({
      plan: { known: [{}, {}], todo: [] },
      results: [],
    });
    const gone = await other.tuned(populate, {
      env: { IREE_TUNED_TEAM: 'postgres://nobody@127.0.0.1:9/none' },
    });
    expect(gone).toMatchObject({ code: 1, stderr: expect.stringContaining('127.0.0.1:9') as string });
  });

  test('a worker without work that it may do ends with the reason', { tags: 'full' }, async () => {
    const database = await fleetDatabase();
    const place = new Workplace({ IREE_TUNED_TEAM: database.url });
    const refusal = async (env: Record<string, string>, ...words: string[]) => {
      const isUsage = !words.includes('--');
      const { code, stderr } = await place.tuned(['team', 'worker', ...words], { env });
      expect(code).toBe(isUsage ? 2 : 1);
      return stderr;
    };
    expect(await refusal({ IREE_TUNED_TEAM: '' })).toMatch(/IREE_TUNED_TEAM|no team is set/);
    expect(await refusal({ IREE_TUNED_READONLY: '1' })).toContain('IREE_TUNED_READONLY is set: unset it');
    expect(await refusal({}, '--budget', '0')).toContain('needs time to tune');
    expect(await refusal({}, '--drain', 'long')).toContain(
      'It takes a time such as 90s or 15m, up to a day.',
    );
    const other = HOST.map((flag) => flag.replace('llvm-cpu', 'vmvx'));
    expect(await refusal({}, '--', ...other)).toMatch(/nothing can be measured here/);
    const reader = await database.login('reader', { in: 'iree_tuned_reader' });
    expect(await refusal({ IREE_TUNED_TEAM: reader }, '--', ...HOST)).toMatch(
      /refuses this: permission denied for schema iree_tuned_queue/,
    );
  });
});

test('builds load no code of the queue', () => {
  const folder = join(root, 'dist', 'current');
  const bundles = readdirSync(folder).filter((name) => name.endsWith('.cjs'));
  expect(bundles).toContain('on-demand.cjs');
  for (const name of bundles) expect(readFileSync(join(folder, name), 'utf8')).not.toMatch(/pg-?boss/i);
});
