// Whole programs: what is better alone and worse in the program is left out of it.
import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import type { TileConfiguration } from '../../src/space/configuration.ts';
import { HOST, matmulModule, Workplace } from './support.ts';

/** One element at a time: slower than anything the compiler would choose. */
const slow: TileConfiguration = {
  version: 1,
  kind: 'tile',
  distribution: [1, 1, 0],
  vectorCommonParallel: [1, 1, 0],
  vectorReduction: [0, 0, 1],
  peeling: false,
};

test('a configuration that makes the program slower is found out and left out of its builds', async () => {
  const place = new Workplace();
  place.write('in.mlir', matmulModule(64, 64, 64));
  expect((await place.tuned(['tune', 'in.mlir', '--budget', '30', '--trials', '8'])).code).toBe(0);
  // A record that was good once, say on another version of the machine's firmware.
  const database = new Database(place.database);
  database
    .prepare('UPDATE record SET configuration = ?, ratio = 2, low = 1.9, high = 2.1')
    .run(JSON.stringify(slow));
  database.close();
  const build = async () => place.explain([...HOST, 'in.mlir', '-o', 'out.vmfb']);
  const before = await build();
  expect(before.explanation.operations).toMatchObject([{ outcome: 'hit', configuration: slow }]);

  const verified = await place.tuned(['tune', 'in.mlir', '--verify-program', '--json']);
  expect(verified).toMatchObject({ code: 0, stderr: '' });
  const { program } = JSON.parse(verified.stdout.toString()) as { program: { leftOut: string[] } };
  expect(program.leftOut).toEqual([expect.stringMatching(/m=64 n=64 k=64/)]);

  const after = await build();
  expect(after.explanation.operations).toMatchObject([
    { outcome: 'default', configuration: null, reason: 'its configuration makes this program worse' },
  ]);
  await place.stock([...HOST, 'in.mlir', '-o', 'stock.vmfb']);
  expect(place.read('out.vmfb').equals(place.read('stock.vmfb'))).toBe(true);
});

test('a program that is right and no slower is said to be so', async () => {
  const place = new Workplace();
  place.write('in.mlir', matmulModule(61, 67, 71));
  const { code, stdout } = await place.tuned([
    'tune',
    'in.mlir',
    ...['--budget', '30', '--trials', '8', '--verify-program'],
  ]);
  expect(code).toBe(0);
  expect(stdout.toString()).toMatch(/program +stock +tuned +gain +outputs\n@main .*x +equal\n$/);
});
