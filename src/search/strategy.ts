// The interface of search strategies: a strategy proposes points and learns their costs. It never measures.
import type { Point, SearchSpace } from './space.ts';

/** The cost of a point: its time relative to the default's, or null if it failed to build, run or finish. */
export interface Observation {
  readonly point: Point;
  readonly cost: number | null;
}

export interface Strategy {
  readonly name: string;
  /** Batches in a row without a gain after which the search ends. The search has its own default. */
  readonly patience?: number;
  /** Trials after which the search ends. The search has its own default. */
  readonly enough?: number;
  /** Up to `limit` new points; empty at the end of the search. */
  propose(limit: number): Point[];
  /** A point can be observed again: the later cost is more accurate. */
  observe(observations: readonly Observation[]): void;
}

/** Uniform numbers in [0, 1). A parameter of searches, so that a run can be repeated. */
export type Random = () => number;

export type StrategyFactory = (space: SearchSpace, random: Random) => Strategy;

/** A small seeded generator (mulberry32), equal on every machine. */
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

/** A filter that accepts each legal configuration once: different points can have the same configuration. */
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

/** Draws in a row without a new legal point after which the space counts as exhausted. */
const MAX_MISSES = 2000;

/** Up to `count` new points; fewer if the space seems exhausted. */
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
