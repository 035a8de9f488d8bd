// The one interface of all search strategies: a strategy proposes points, is told what they cost, and never measures.
import type { Point, SearchSpace } from './space.ts';

/** Cost of one point: time relative to the default's, or null when it failed to build, run or finish. */
export interface Observation {
  readonly point: Point;
  readonly cost: number | null;
}

export interface Strategy {
  readonly name: string;
  /** Batches in a row without a gain after which it finds no more; as many as the search likes when left out. */
  readonly patience?: number;
  /** Trials after which it finds little more; as many as the search likes when left out. */
  readonly enough?: number;
  /** Up to `limit` points that were not proposed before; empty when the search is over. */
  propose(limit: number): Point[];
  /** Points may be observed again: the later cost is the one that is known better. */
  observe(observations: readonly Observation[]): void;
}

/** Uniform numbers in [0, 1): searches take randomness as an argument so that a run can be repeated. */
export type Random = () => number;

export type StrategyFactory = (space: SearchSpace, random: Random) => Strategy;

/** A small seeded generator (mulberry32): good enough to spread trials, the same on every machine. */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Remembers which configurations were proposed: different points may stand for the same or for an illegal one. */
export function unseen(space: SearchSpace): (point: Point) => boolean {
  const seen = new Set<string>();
  return (point) => {
    const configuration = space.configurationAt(point);
    if (configuration === null) return false;
    const key = JSON.stringify(configuration);
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  };
}

/** Draws in a row without a new legal point after which there are likely no more. */
const MAX_MISSES = 2000;

/** So many new points, or fewer where draws find no more. */
export function drawn(count: number, draw: () => Point, isNew: (point: Point) => boolean): Point[] {
  const points: Point[] = [];
  for (let misses = 0; points.length < count && misses < MAX_MISSES;) {
    const point = draw();
    if (isNew(point)) {
      points.push(point);
      misses = 0;
    } else misses++;
  }
  return points;
}

export function randomPoint(space: SearchSpace, random: Random): Point {
  return space.knobs.map((knob) => Math.floor(random() * knob.values.length));
}
