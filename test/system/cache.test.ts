import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import * as cache from '../../src/system/cache.ts';
import { root } from '../support/folders.ts';

const { PLACES, pathIn } = cache;

test('the list has every place', () => {
  const named = Object.values(cache).filter(
    (value): value is cache.Place => typeof value === 'object' && 'path' in value,
  );
  expect(PLACES).toHaveLength(named.length);
  expect(new Set(PLACES)).toEqual(new Set(named));
});

test('names of places are distinct', () => {
  const paths = PLACES.map((place) => pathIn('/cache', place, '0123456789abcdef'));
  expect(new Set(paths).size).toBe(PLACES.length);
  expect(paths).toContain('/cache/plans/plan-0123456789abcdef.json');
});

test('a spec outlives the plan that names it', () => {
  expect(cache.SPECS.days).toBeGreaterThan(2 * cache.PLANS.days);
});

test('no other file joins a name onto the cache folder', () => {
  const files = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.ts'),
  );
  const joining = files.filter((name) =>
    /join\((?:\w+\.)*cache(?:Directory)?,\s*['`]/.test(readFileSync(join(root, 'src', name), 'utf8')),
  );
  expect(joining).toEqual([]);
});
