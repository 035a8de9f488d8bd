// What docs/team.md tells people to type, typed: every block of shell, in order, each by the one whose it is, against a server of
// the test's own.
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { HOST, oddMatmul, Workplace } from '../scenarios/support.ts';
import { temporaryDirectory } from '../support/folders.ts';
import { blocksOf } from '../support/page.ts';
import { postgresPrograms, startServer, whyNoPostgres } from '../support/postgres.ts';
import { root } from '../support/real-tools.ts';

const page = readFileSync(join(root, 'docs', 'team.md'), 'utf8');

const blocks = blocksOf('docs/team.md', {
  docker:
    'it downloads an image and starts a container, which machines that run tests need not be able to do',
  marked: 'nothing that the page does makes a build fail, and lift has a test of its own',
});

test('every block of shell says whether it is run', () => {
  expect(blocks.filter(({ user }) => user === null)).toHaveLength(2);
  expect(new Set(blocks.map(({ user }) => user))).toEqual(
    new Set(['everybody', 'ada', 'bob', 'ci', 'grace', null]),
  );
});

test('the settings, commands and roles that the page names are there', () => {
  const source = ['settings/settings.ts', 'team/roles.ts', 'cli/iree-tuned.ts']
    .map((name) => readFileSync(join(root, 'src', name), 'utf8'))
    .join('\n');
  for (const [, role] of page.matchAll(/(iree_tuned_\w+)/g)) expect(source).toContain(`'${role!}'`);
  for (const [, name] of page.matchAll(/IREE_TUNED_([A-Z_]+)/g))
    expect(source).toMatch(new RegExp(`^ {2}'?${name!.toLowerCase().replaceAll('_', '-')}'?:`, 'm'));
  for (const [, name] of page.matchAll(/`iree-tuned (?!--)([a-z]+)/g))
    expect(source).toContain(`.command('${name!}')`);
});

describe.skipIf(whyNoPostgres !== null)('what the page says', () => {
  test('works, in its order', { timeout: 300_000 }, async () => {
    const server = await startServer();
    const database = await server.database();
    await database.query('CREATE DATABASE tuning');
    await database.query(`ALTER ROLE postgres PASSWORD 'the password of postgres'`);
    const share = temporaryDirectory();
    /** What the page's names are here: it has other machines. */
    const here = (text: string) =>
      text
        .replaceAll(/tuning\.example\.com(?!:)/g, `127.0.0.1:${server.port}`)
        .replaceAll('tuning.example.com:5432', `127.0.0.1:${server.port}`)
        .replaceAll('/mnt/share', share)
        .replaceAll('AMD EPYC 9654', 'local-sync')
        // The compiler of this test is asked about this machine.
        .replaceAll(/^FLAGS=.*$/gm, `FLAGS='${HOST.join(' ')}'`);

    const places = new Map<string, Workplace>();
    const placeOf = (user: string) => {
      const known = places.get(user);
      if (known !== undefined) return known;
      // CI is another device than those that it builds for.
      const device = user === 'ci' ? { IREE_TUNED_DEVICE: 'local-task' } : {};
      const place = Workplace.simulated(device);
      mkdirSync(place.path('home'));
      place.write('model.mlir', oddMatmul);
      places.set(user, place);
      return place;
    };
    const programs = join(root, 'bin');
    const path = `${programs}:${postgresPrograms!}:${process.env['PATH']!}`;
    const common = blocks.filter(({ user }) => user === 'everybody').map(({ script }) => here(script));
    /** What somebody has exported stays so in the next block. */
    const kept = new Map<string, string>();
    const saidBy = new Map<string, string>();
    for (const { user, script, line } of blocks) {
      if (user === null || user === 'everybody') continue;
      const place = placeOf(user);
      const before = kept.get(user) ?? '';
      const text = `set -eu\n${common.join('')}${before}\n${here(script)}`;
      const env = { HOME: place.path('home'), PATH: path, PGPASSWORD: undefined, IREE_TUNED_TEAM: undefined };
      const { code, stdout, stderr } = await place.run('sh', ['-c', text], { env });
      const said = stdout.toString() + stderr;
      if (code !== 0) throw new Error(`docs/team.md:${line}: ended with ${code}\n${said}`);
      saidBy.set(user, (saidBy.get(user) ?? '') + said);
      kept.set(
        user,
        before + [...here(script).matchAll(/^export .*$/gm)].map(([exported]) => `${exported}\n`).join(''),
      );
    }

    expect(saidBy.get('grace')).toMatch(/The roles are there/);
    expect(saidBy.get('grace')).toMatch(/has schema \d+ already/);
    // What was dumped is there again, what Ada has tuned is found by Bob's first build and by the machine that builds for others.
    expect(saidBy.get('grace')).toMatch(/restored$[^]*^claims +[1-9]/m);
    expect(saidBy.get('bob')).toMatch(/records from there +1/);
    expect(saidBy.get('ci')).toMatch(/prod is now /);
    expect(placeOf('ada').read('model.vmfb').equals(placeOf('ci').read('model.vmfb'))).toBe(true);
    await placeOf('ada').stock([...HOST, 'model.mlir', '-o', 'stock.vmfb']);
    expect(placeOf('ada').read('model.vmfb').equals(placeOf('ada').read('stock.vmfb'))).toBe(false);
    expect(placeOf('ada').has('iree-tuned.lock')).toBe(true);
    for (const said of saidBy.values()) expect(said).not.toMatch(/the password of/);
    await server.stop();
  });
});
