// Types the commands of docs/populate.md, each on its machine.
import { mkdirSync } from 'node:fs';
import { expect } from 'vitest';
import { HOST, oddMatmul, Workplace } from '../scenarios/support.ts';
import { temporaryDirectory } from '../support/folders.ts';
import { blocksOf } from '../support/page.ts';
import { testPage, Typist, typeAll } from './support.ts';

const blocks = blocksOf('docs/populate.md');

testPage('populate', blocks, async () => {
  const share = temporaryDirectory();
  const machines = await typeAll(blocks, {
    begin: () => {
      const place = Workplace.simulated({}, { isShort: true });
      mkdirSync(place.path('models'));
      place.write('models/model.mlir', oddMatmul);
      return new Typist(place, { FLAGS: HOST.join(' ') });
    },
    // Fewer and smaller sizes: seconds instead of hours.
    here: (text) =>
      text
        .replaceAll('/mnt/share', share)
        .replaceAll(/--m (\d+):\S+/g, '--m $1')
        .replaceAll('--n 1024,4096 --k 1024 --dtype f32,f16', '--n 48 --k 40 --rhs-constant no')
        .replaceAll('--n 512 --k 512', '--n 512 --k 512 --rhs-constant no'),
  });
  expect(machines.get('first')!.stdout[0]).toMatch(/^1 of 1 have a record now, 1 of them faster/m);
  const merged = machines.get('second')!.stdout.at(-1);
  expect(merged).toMatch(/m=64 n=512 k=512/);
  expect(merged).toMatch(/m=512 n=512 k=512/);
});
