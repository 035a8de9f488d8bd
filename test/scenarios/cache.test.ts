// What builds leave in the cache folder.
import { readdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import { expect, test } from 'vitest';
import { PLACES } from '../../src/system/cache.ts';
import { HOST, oddMatmul, Workplace } from './support.ts';

/** Files below a folder, with the place of each; undefined for one that no place is known for. */
function placesOf(folder: string): Map<string, string | undefined> {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter(
    (entry) => !entry.isDirectory(),
  );
  return new Map(
    files.map((entry) => {
      const name = relative(folder, join(entry.parentPath, entry.name));
      const place = PLACES.find(({ path }) =>
        new RegExp(`^${path.replaceAll('.', '\\.').replace('*', '[\\w-]+')}(?:/|$)`).test(name),
      );
      return [name, place?.path];
    }),
  );
}

test('everything that a build leaves there has its place in the list', async () => {
  const place = Workplace.simulated();
  place.write('in.mlir', oddMatmul);
  const argv = ['in.mlir', '-o', 'out.vmfb', ...HOST];
  const { explanation } = await place.explain(argv);
  expect(explanation.applied).toBe(true);
  expect((await place.compile(argv)).code).toBe(0);
  const places = placesOf(place.path('cache'));
  expect([...places].filter(([, known]) => known === undefined)).toEqual([]);
  expect(new Set(places.values())).toEqual(
    new Set([
      'compiler-*.json',
      'options-*.json',
      'target-*.json',
      'plans/plan-*.json',
      'programs/program-*.json',
      'replays/replay-*.json',
      'surveys/survey-*.json',
      'specs/*.mlir',
      'nodes/*',
      'node',
      'counters.jsonl',
      'measuring.lock',
      'tidied',
    ]),
  );
});
