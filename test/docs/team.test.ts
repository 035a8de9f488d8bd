// Types the commands of docs/team.md with a folder and a server of the test. Starts and ends the worker of the unit and of the container, as systemd
// and Docker do.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { HOST, matmulModule } from '../scenarios/support.ts';
import { temporaryDirectory } from '../support/folders.ts';
import { blocksOf, startedBy } from '../support/page.ts';
import { whyNoPostgres } from '../support/postgres.ts';
import { root } from '../support/real-tools.ts';
import { member, serverOfFleet, testPage, typeAll } from './support.ts';

const blocks = blocksOf('docs/team.md');
const fileOf = (name: string) => readFileSync(join(root, 'docs', 'team', name), 'utf8');
const unit = fileOf('iree-tuned-worker.service');
const compose = fileOf('worker.compose.yaml');

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
  'team',
  blocks,
  async () => {
    const address = await serverOfFleet();
    const share = temporaryDirectory();
    const people = await typeAll(blocks, {
      begin: (user) => {
        // CI's device differs from the device that it builds for.
        const own = member(user === 'ci' ? { IREE_TUNED_DEVICE: 'local-task' } : {});
        if (user === 'fay') own.place.write('other.mlir', matmulModule(40, 24, 16));
        return own;
      },
      here: (text) =>
        text
          .replaceAll(/tuning\.example\.com(?::5432)?/g, address)
          .replaceAll('/mnt/share', share)
          .replaceAll('AMD EPYC 9654', 'local-sync'),
    });
    // Emil's build measures nothing, and has the bytes of Dora's.
    const [dora, emil, fay] = ['dora', 'emil', 'fay'].map((name) => people.get(name)!.place);
    expect(emil!.read('model.vmfb').equals(dora!.read('model.vmfb'))).toBe(true);
    expect(await fay!.isStock('other.vmfb', [...HOST, 'other.mlir'])).toBe(false);
    expect(people.get('ci')!.place.read('model.vmfb').equals(dora!.read('model.vmfb'))).toBe(true);
    for (const { said } of people.values()) expect(said).not.toMatch(/the password of/);

    const zen4 = people.get('zen4')!;
    expect(zen4.said).toMatch(/done contraction m=64 n=128 k=64 /);
    const env = {
      PGPASSWORD: 'the password of fleet',
      IREE_TUNED_FLEET: `postgres://fleet@${address}/tuning`,
      IREE_TUNED_TEAM: share,
    };
    for (const file of [unit, compose]) {
      // systemd splits a variable that stands alone into words.
      const [program, ...words] = startedBy(file)[0]!
        .split(' ')
        .flatMap((word) => (word === '$FLAGS' ? HOST : [word]));
      expect(program!.startsWith(`${INSTALLED}/`)).toBe(true);
      const { child, ended } = zen4.place.start(program!.replace(INSTALLED, join(root, 'bin')), words, {
        env,
      });
      await new Promise<void>((resolve) => {
        child.stdout.on('data', (chunk: Buffer) => {
          if (chunk.includes('tunes for')) resolve();
        });
        void ended.then(() => {
          resolve();
        });
      });
      child.kill('SIGTERM');
      const { code, stdout, stderr } = await ended;
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      expect(stdout.toString()).toMatch(
        /SIGTERM: the worker ends within 75 s; .* ends the worker at once\n.*ends, 0 done\n$/s,
      );
    }
  },
  () => whyNoPostgres,
);
