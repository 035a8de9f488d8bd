// Types the commands of docs/fleet.md, against a server of the test's own. Starts and ends the commands of the unit and of the
// container as systemd and Docker do.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { HOST } from '../scenarios/support.ts';
import { blocksOf, startedBy } from '../support/page.ts';
import { whyNoPostgres } from '../support/postgres.ts';
import { root } from '../support/real-tools.ts';
import { member, serverOfTeam, testPage, typeAll } from './support.ts';

const blocks = blocksOf('docs/fleet.md');
const text = (name: string) => readFileSync(join(root, 'docs', 'fleet', name), 'utf8');
const unit = text('iree-tuned-worker.service');
const compose = text('compose.yaml');

const INSTALLED = '/opt/iree-compile-tuned/bin';

test.each([
  ['the unit', unit, /^TimeoutStopSec=(\d+)$/m],
  ['the container', compose, /^ *stop_grace_period: (\d+)s$/m],
])('%s gives its worker the time that it takes to end', (_, file, given) => {
  const [command] = startedBy(file);
  const drain = Number(/--drain[= ](\d+)/.exec(command!)![1]);
  expect(Number(given.exec(file)![1])).toBeGreaterThan(drain + 15);
});

testPage(
  'fleet',
  blocks,
  async () => {
    const address = await serverOfTeam();
    const people = await typeAll(blocks, {
      begin: () => member(),
      here: (script) => script.replaceAll('tuning.example.com', address),
    });
    const zen4 = people.get('zen4')!;
    expect(zen4.said).toMatch(/done contraction m=61 n=67 k=71 /);
    expect(people.get('ci')!.said).toMatch(/^ {2}found in the database +1 *$/m);

    const env = {
      PGPASSWORD: 'the password of zen4',
      IREE_TUNED_TEAM: `postgres://zen4@${address}/tuning`,
    };
    for (const file of [unit, compose]) {
      // As systemd does: a variable that stands alone is as many words as it has.
      const [program, ...words] = startedBy(file)[0]!
        .split(' ')
        .flatMap((word) => (word === '$FLAGS' ? HOST : [word]));
      expect(program!.startsWith(`${INSTALLED}/`)).toBe(true);
      const { child, ended } = zen4.place.start(program!.replace(INSTALLED, join(root, 'bin')), words, {
        env,
      });
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
  },
  () => whyNoPostgres,
);
