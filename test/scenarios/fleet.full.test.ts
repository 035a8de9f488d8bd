// A list of shapes, a worker that tunes it, and builds with hits, by the command lines alone.
// In full after a change of src/fleet, src/cli/team.
import { readdirSync, readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { fleetDatabase } from '../fleet/support.ts';
import { temporaryDirectory } from '../support/folders.ts';
import { isWithout } from '../support/needs.ts';
import { whyNoPostgres } from '../support/postgres.ts';
import { root } from '../support/real-tools.ts';
import { argv } from './faults/support.ts';
import { HOST, oddMatmul, rowsOf, Workplace } from './support.ts';

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

const SHAPE = ['--m', '61', '--n', '67', '--k', '71', '--rhs-constant', 'no'];

describe.skipIf(isWithout(whyNoPostgres))('a fleet', HANGS, () => {
  test('a worker tunes submitted shapes, and the next build has hits', async () => {
    const { settings, ofWorker } = await fleetOf();
    const ci = new Workplace({ ...settings, IREE_TUNED_BUDGET: '0' });
    ci.write('in.mlir', oddMatmul);
    const build = async () => (await ci.explain(argv)).explanation.operations[0]!;
    expect(await build()).toMatchObject({ outcome: 'default' });

    const zen4 = Workplace.simulated(ofWorker);
    const worker = zen4.start(join(root, 'bin', 'iree-tuned'), ['team', 'worker', '--', ...HOST]);
    const submitted = await ci.tuned(['tune', ...SHAPE, '--fleet', '--json', '--', ...HOST]);
    expect(submitted).toMatchObject({ code: 0 });
    expect(JSON.parse(submitted.stdout.toString())).toMatchObject({ results: [{ outcome: 'tuned' }] });
    worker.child.kill('SIGTERM');
    const { code, stdout, stderr } = await worker.ended;
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout.toString()).toMatch(
      / took contraction m=61 n=67 k=71 [^]*done contraction .*: \d+\.\d\dx\n/,
    );
    expect(await asked(zen4, 'team', 'queue')).toMatchObject({
      queues: [{ waiting: 0, active: 0, done: 1 }],
      active: [],
      dead: [],
    });
    expect(await build()).toMatchObject({ outcome: 'hit' });
    // Nothing was measured here, and the same list needs no work.
    expect(rowsOf(ci, 'trial')).toBe(0);
    const again = await ci.tuned(['tune', ...SHAPE, '--fleet', '--json', '--', ...HOST]);
    expect(JSON.parse(again.stdout.toString())).toMatchObject({ plan: { known: [{}], todo: [] } });
  });

  test('an undecided job is dead after some attempts, and can be revived', async () => {
    const { database, ofWorker, settings } = await fleetOf();
    const zen4 = Workplace.simulated(ofWorker, { isRefusing: true });
    const ci = new Workplace(settings);
    await ci.tuned(['tune', ...SHAPE, '--fleet', '--budget', '1', '--', ...HOST]);
    let said = '';
    while (!/"dead": \[\n/.test(await zen4.said(['team', 'queue', '--json']))) {
      await database.query(`UPDATE iree_tuned_queue.job SET start_after = now() WHERE state = 'retry'`);
      said += await zen4.said(['team', 'worker', '--until-idle', '--', ...HOST]);
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

  test('a worker ends if the base revokes its machine', async () => {
    const { base, settings, ofWorker } = await fleetOf();
    const zen4 = Workplace.simulated(ofWorker);
    const work = () => zen4.tuned(['team', 'worker', '--until-idle', '--', ...HOST]);
    await new Workplace(settings).tuned(['tune', ...SHAPE, '--fleet', '--budget', '1', '--', ...HOST]);
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
