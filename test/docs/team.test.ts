// Types the commands of docs/team.md, against a server of the test's own.
import { expect } from 'vitest';
import { HOST } from '../scenarios/support.ts';
import { temporaryDirectory } from '../support/folders.ts';
import { blocksOf } from '../support/page.ts';
import { whyNoPostgres } from '../support/postgres.ts';
import { member, serverOfTeam, testPage, typeAll } from './support.ts';

const blocks = blocksOf('docs/team.md');

testPage(
  'team',
  blocks,
  async () => {
    const address = await serverOfTeam();
    const share = temporaryDirectory();
    const people = await typeAll(blocks, {
      // CI is another device than those that it builds for.
      begin: (user) => member(user === 'ci' ? { IREE_TUNED_DEVICE: 'local-task' } : {}),
      here: (text) =>
        text
          .replaceAll(/tuning\.example\.com(?::5432)?/g, address)
          .replaceAll('/mnt/share', share)
          .replaceAll('AMD EPYC 9654', 'local-sync'),
    });
    const [ada, bob, ci, grace] = ['ada', 'bob', 'ci', 'grace'].map((name) => people.get(name)!);
    expect(grace!.said).toMatch(/The roles are there/);
    expect(grace!.said).toMatch(/has schema \d+ already/);
    // What was dumped is there again, what Ada has tuned is found by Bob's first build and by the machine that builds for others.
    expect(grace!.said).toMatch(/restored$[^]*^claims +[1-9]/m);
    expect(bob!.said).toMatch(/records from there +1/);
    expect(ci!.said).toMatch(/prod is now /);
    const { place } = ada!;
    expect(place.read('model.vmfb').equals(ci!.place.read('model.vmfb'))).toBe(true);
    await place.stock([...HOST, 'model.mlir', '-o', 'stock.vmfb']);
    expect(place.read('model.vmfb').equals(place.read('stock.vmfb'))).toBe(false);
    expect(place.has('iree-tuned.lock')).toBe(true);
    for (const { said } of people.values()) expect(said).not.toMatch(/the password of/);
  },
  () => whyNoPostgres,
);
