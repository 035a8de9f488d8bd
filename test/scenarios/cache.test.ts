// Files of builds in the cache folder.
// In full after a change of src/system/cache.ts.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { expect, test } from 'vitest';
import { PLACES } from '../../src/system/cache.ts';
import { casesOfTier } from '../support/needs.ts';
import { recordedWorkplace } from './faults/support.ts';
import { HOST, oddMatmul, Workplace, argv as build } from './support.ts';

/** Files below a folder with the place of each; undefined for a file without a place. */
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

test('every file of a build has its place in the list', async () => {
  const place = Workplace.simulated({}, { isShort: true });
  place.write('in.mlir', oddMatmul);
  const argv = ['in.mlir', '-o', 'out.vmfb', ...HOST];
  // As outside of the tests: they share Node's compile cache.
  const { explanation } = await place.explain(argv, { env: { NODE_COMPILE_CACHE: undefined } });
  expect(explanation.applied).toBe(true);
  expect((await place.compile(argv)).code).toBe(0);
  const places = placesOf(place.path('cache'));
  expect([...places].filter(([, known]) => known === undefined)).toEqual([]);
  expect(new Set(places.values())).toEqual(
    new Set([
      'common/*.vmfb',
      'compiler-*.json',
      'options-*.json',
      'target-*.json',
      'plans/plan-*.json',
      'replays/replay-*.json',
      'modules/module-*.json',
      'outputs/output-*.bin',
      'outputs/output-*.json',
      'surveys/survey-*.json',
      'specs/*.mlir',
      'nodes/*',
      'node',
      'builds.jsonl',
      'measuring.lock',
      'tidied',
    ]),
  );
});

test('files of another version cost only time', { tags: 'full' }, async () => {
  const place = await recordedWorkplace();
  const first = await place.explain(build);
  expect(first.explanation).toMatchObject({ route: 'spec', applied: true });
  const output = place.read('out.vmfb');
  const changes = [
    // The other version has fewer fields, other types, or other identities.
    (memory: Memory) => ({ ...otherwise(memory), identity: memory.identity }),
    ({ identity }: Memory) => ({ identity }),
    (memory: Memory) => ({ ...memory, identity: { of: memory.identity } }),
  ];
  for (const change of casesOfTier(changes, 2)) {
    const memories = [...placesOf(place.path('cache')).keys()].filter((name) => name.endsWith('.json'));
    expect(memories.length).toBeGreaterThanOrEqual(4);
    for (const name of memories) {
      const path = place.path(`cache/${name}`);
      writeFileSync(path, JSON.stringify(change(JSON.parse(readFileSync(path, 'utf8')) as Memory)));
    }
    // The build replaces invalid entries.
    const again = await place.built(build);
    expect(again).toMatchObject({ route: 'spec', applied: true });
    expect(place.read('out.vmfb').equals(output)).toBe(true);
  }
});

interface Memory {
  readonly identity: string;
}

/** The same keys with values of other types. */
const otherwise = (memory: Memory): Record<string, unknown> =>
  Object.fromEntries(Object.keys(memory).map((key) => [key, [{ [key]: 99 }]]));
