// Checked configurations of a search space.
import { expect } from 'vitest';
import type { Configuration } from '../../src/backend/configuration.ts';
import { configurationText, isConfiguration } from '../../src/backend/index.ts';
import { pointOf, type SearchSpace } from '../../src/search/space.ts';
import { randomPoint, seededRandom } from '../../src/search/strategy.ts';

/**
 * The configurations of the starts and of random points. Each can be stored, and leads back to its point.
 * @param rank number of the workload's dimensions
 * @param count number of random points
 */
export function drawn(
  space: SearchSpace<Configuration>,
  rank: number,
  count = 200,
  seed = 1,
): Configuration[] {
  const random = seededRandom(seed);
  const points = [...space.starts, ...Array.from({ length: count }, () => randomPoint(space, random))];
  const found = points.flatMap((point) => space.configurationAt(point) ?? []);
  expect(space.starts.length).toBeGreaterThan(0);
  for (const one of found) {
    expect(isConfiguration(JSON.parse(configurationText(one)), rank)).toBe(true);
    expect(space.configurationAt(pointOf(space, one)!)).toEqual(one);
  }
  return found;
}

/** The configurations of the starts of a space, which all have this kind. */
export function startsOf<Kind extends Configuration['kind']>(space: SearchSpace<Configuration>, kind: Kind) {
  const found = space.starts.map((start) => space.configurationAt(start));
  expect(new Set(found.map((one) => one?.kind))).toEqual(new Set([kind]));
  return found as Extract<Configuration, { readonly kind: Kind }>[];
}
