// What docs/fleet.md tells people to type, typed, in order, against a server of the test's own; and the commands of the unit and of
// the container, started and ended as those who start them do.
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { blocksOf } from '../support/page.ts';
import { HOST, oddMatmul, Workplace } from '../scenarios/support.ts';
import { postgresPrograms, startServer, whyNoPostgres } from '../support/postgres.ts';
import { root } from '../support/real-tools.ts';

const blocks = blocksOf('docs/fleet.md', {
  docker: 'it starts a container, which machines that run tests need not be able to do',
  systemd: 'it makes a service of this machine',
});
const text = (name: string) => readFileSync(join(root, 'docs', 'fleet', name), 'utf8');
const unit = text('iree-tuned-worker.service');
const compose = text('compose.yaml');

/** Values of a key of the unit. */
const inUnit = (key: string) =>
  [...unit.matchAll(new RegExp(`^${key}=(.*)$`, 'gm'))].map(([, value]) => value!);

/** The list below a key of the compose file, whose items are plain words. */
function inCompose(key: string): string[] {
  const list = new RegExp(`^( *)${key}:\\n((?:\\1 +- \\S+\\n)+)`, 'm').exec(compose);
  return [...list![2]!.matchAll(/- (\S+)/g)].map(([, item]) => item!);
}

/** What a build says to a busy machine's server must not depend on the clock. */
const PATIENT = { IREE_TUNED_TEAM_TIMEOUT: '60000' };
const INSTALLED = '/opt/iree-compile-tuned/bin';
const here = (word: string) => word.replace(INSTALLED, join(root, 'bin'));
const seconds = (value: string) => Number(/^(\d+)s?$/.exec(value)![1]);

test('every block of shell says whether it is run', () => {
  expect(blocks.filter(({ user }) => user === null)).toHaveLength(2);
  expect(new Set(blocks.map(({ user }) => user))).toEqual(
    new Set(['everybody', 'grace', 'ci', 'zen4', null]),
  );
});

test('what is told to end is given the time that it may take', () => {
  const drains = [...(inUnit('ExecStart')[0]! + compose).matchAll(/--drain[= ](\d+)/g)];
  expect(drains).toHaveLength(2);
  const [inOne, inOther] = drains.map(([, drain]) => Number(drain) + 15);
  expect(seconds(inUnit('TimeoutStopSec')[0]!)).toBeGreaterThan(inOne!);
  expect(seconds(/stop_grace_period: (\w+)/.exec(compose)![1]!)).toBeGreaterThan(inOther!);
});

test('the variables that the unit and the container set are settings', () => {
  const settings = readFileSync(join(root, 'src', 'settings', 'settings.ts'), 'utf8');
  const names = [...(unit + compose).matchAll(/\bIREE_TUNED_([A-Z_]+)/g)].map(([, name]) => name!);
  expect(names.length).toBeGreaterThan(5);
  for (const name of names)
    expect(settings).toMatch(new RegExp(`^ {2}'?${name.toLowerCase().replaceAll('_', '-')}'?:`, 'm'));
});

describe.skipIf(whyNoPostgres !== null)('what the page says', () => {
  test(
    'works, in its order, and so do the commands of unit and container',
    { timeout: 300_000 },
    async () => {
      const server = await startServer();
      const database = await server.database();
      await database.query('CREATE DATABASE tuning');
      await database.query(`ALTER ROLE postgres PASSWORD 'the password of postgres'`);
      const address = `127.0.0.1:${server.port}`;
      const places = new Map<string, Workplace>();
      const placeOf = (user: string) => {
        const place = places.get(user) ?? Workplace.simulated(PATIENT);
        if (!places.has(user)) {
          mkdirSync(place.path('home'));
          place.write('model.mlir', oddMatmul);
          places.set(user, place);
        }
        return place;
      };
      const kept = new Map<string, string>();
      const saidBy = new Map<string, string>();
      const path = `${join(root, 'bin')}:${postgresPrograms!}:${process.env['PATH']!}`;
      for (const { user, script, line } of blocks) {
        if (user === null) continue;
        const own = script
          .replaceAll('tuning.example.com', address)
          .replaceAll(/^FLAGS=.*$/gm, `FLAGS='${HOST.join(' ')}'`);
        const exported = `${kept.get('everybody') ?? ''}${kept.get(user) ?? ''}`;
        if (user !== 'everybody') {
          const place = placeOf(user);
          const env = {
            HOME: place.path('home'),
            PATH: path,
            PGPASSWORD: undefined,
            IREE_TUNED_TEAM: undefined,
          };
          const result = await place.run('sh', ['-c', `set -eu\n${exported}\n${own}`], { env });
          const said = result.stdout.toString() + result.stderr;
          if (result.code !== 0) throw new Error(`docs/fleet.md:${line}: ended with ${result.code}\n${said}`);
          saidBy.set(user, (saidBy.get(user) ?? '') + said);
        }
        const exports = [...own.matchAll(/^(?:export |FLAGS=).*$/gm)].map(([one]) => `${one}\n`);
        kept.set(user, (kept.get(user) ?? '') + exports.join(''));
      }
      expect(saidBy.get('zen4')).toMatch(/done contraction m=61 n=67 k=71 /);
      expect(saidBy.get('ci')).toMatch(/hit/);

      const zen4 = placeOf('zen4');
      const team = `postgres://zen4@${address}/tuning`;
      const env = { PGPASSWORD: 'the password of zen4', IREE_TUNED_TEAM: team };
      const started = [
        // As systemd does: a variable that stands alone is as many words as it has.
        inUnit('ExecStart')[0]!
          .split(' ')
          .flatMap((word) => (word === '$FLAGS' ? HOST : [word])),
        inCompose('command'),
      ];
      for (const [program, ...words] of started) {
        expect(program!.startsWith(`${INSTALLED}/`)).toBe(true);
        const { child, ended } = zen4.start(here(program!), words, { env });
        await new Promise<void>((resolve) => {
          child.stdout.on('data', (chunk: Buffer) => {
            if (chunk.includes('works for')) resolve();
          });
          void ended.then(() => {
            resolve();
          });
        });
        child.kill('SIGTERM');
        const { code, stdout, stderr } = await ended;
        expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
        expect(stdout.toString()).toMatch(
          /SIGTERM: ends within 75 s; once more ends it at once\n.*ends, 0 done\n$/s,
        );
      }
      await server.stop();
    },
  );
});
