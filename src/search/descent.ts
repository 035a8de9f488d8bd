// Structured starts, then coordinate descent with restarts.
import type { Point, SearchSpace } from './space.ts';
import { randomPoint, unseen, type Random, type Strategy, type StrategyFactory } from './strategy.ts';

/**
 * Number of the best inner parts and of the best outer parts of starts that are crossed. The best inner and outer values are
 * rarely in one start.
 */
const CROSSED = 5;

/** Most points of the crossing: about one batch. */
const MOST_CROSSINGS = 16;

/** A move must save this share of the time. Less is within the noise of one screening. */
const MIN_GAIN = 0.004;

interface Scored {
  readonly point: Point;
  readonly cost: number;
}

/**
 * Measures the starts of the space and crosses their inner and outer knobs. Then it walks from the best point: it tries all
 * values of one knob after another, and moves to the best. After a round without a gain it restarts from the next best measured
 * point, then from random changes of the best point.
 *
 * Several knobs share a batch, because a batch is compiled and timed together. If two knobs improve, the next batch starts with
 * both changes at once.
 */
export const coordinateDescent: StrategyFactory = (space, random) => new Descent(space, random);

class Descent implements Strategy {
  readonly name = 'descent';
  readonly #space: SearchSpace;
  readonly #random: Random;
  readonly #isNew: (point: Point) => boolean;
  /** By the keys of their points. */
  readonly #measured = new Map<string, Scored>();
  readonly #walked = new Set<string>();
  #starts: Point[];
  #current: Scored | null = null;
  #knobs: number[] = [];
  #combined: Point[] = [];
  /** The knob whose values are being tried. */
  #knob = 0;
  /** The points along this knob that are not proposed yet. */
  #line: Point[] = [];
  #improved = false;
  #isCrossed = false;
  #restarts = 0;

  constructor(space: SearchSpace, random: Random) {
    this.#space = space;
    this.#random = random;
    this.#isNew = unseen(space);
    this.#starts = [...space.starts];
  }

  propose(limit: number): Point[] {
    const points: Point[] = [];
    const take = (candidates: Point[]) => {
      while (points.length < limit && candidates.length > 0) {
        const point = candidates.shift()!;
        if (this.#isNew(point)) points.push(point);
      }
    };
    take(this.#starts);
    if (points.length > 0) return points;
    if (!this.#isCrossed && this.#measured.size > 0) {
      this.#isCrossed = true;
      this.#starts = crossings(this.#space, this.#bestMeasured());
      take(this.#starts);
      if (points.length > 0) return points;
    }
    if (this.#measured.size === 0) {
      take(Array.from({ length: 64 * limit }, () => randomPoint(this.#space, this.#random)));
      return points;
    }

    take(this.#combined);
    take(this.#line);
    // Three restarts without a new point: the space is nearly exhausted.
    for (let barren = 0; points.length < limit && barren < 3;) {
      if (this.#knobs.length === 0 && !this.#nextRound()) barren++;
      const knob = this.#knobs.shift();
      if (knob === undefined) continue;
      const { point } = this.#current!;
      this.#knob = knob;
      this.#line = this.#space.knobs[knob]!.values.map((_, value) => point.with(knob, value));
      take(this.#line);
    }
    return points;
  }

  observe(observations: readonly { point: Point; cost: number | null }[]): void {
    const scored = observations.filter((o): o is Scored => o.cost !== null);
    for (const one of scored) this.#measured.set(one.point.join(), one);
    if (this.#current === null) return;
    const key = this.#current.point.join();
    const again = scored.find(({ point }) => point.join() === key);
    // If the current point was only lucky, earlier points compete again.
    const isWorse = again !== undefined && again.cost > this.#current.cost;
    const current = again ?? this.#current;
    this.#current = current;
    const better = (isWorse ? [...this.#measured.values()] : scored)
      .filter(({ cost }) => cost < current.cost * (1 - MIN_GAIN))
      .sort((a, b) => a.cost - b.cost);
    const [best] = better;
    if (best === undefined) return;
    this.#combined = combinations(
      current.point,
      better.slice(0, 4).map(({ point }) => point),
    );
    this.#current = best;
    this.#improved = true;
    // The line belongs to the old point, so its knob is tried again from the new one.
    if (this.#line.length > 0) this.#knobs.push(this.#knob);
    this.#line = [];
  }

  /** Begins a round over all knobs. False for a random restart. */
  #nextRound(): boolean {
    // Outer knobs first: the starts already cover the inner knobs.
    const isInner = (knob: number) => this.#space.knobs[knob]!.isInner === true;
    const knobs = shuffled(
      this.#space.knobs.map((_, i) => i),
      this.#random,
    );
    this.#knobs = knobs.sort((a, b) => Number(isInner(a)) - Number(isInner(b)));
    if (this.#improved) {
      this.#improved = false;
      return true;
    }
    if (this.#current !== null) this.#walked.add(this.#current.point.join());
    // A restart begins at the best measured point where no walk has ended.
    const measured = this.#bestMeasured();
    const next = measured.slice(0, 4).find(({ point }) => !this.#walked.has(point.join()));
    if (next !== undefined) {
      this.#current = next;
      this.#walked.add(next.point.join());
      return true;
    }
    this.#restarts++;
    this.#current = { point: this.#perturbed(measured[0]!.point), cost: Infinity };
    return false;
  }

  #bestMeasured(): Scored[] {
    return [...this.#measured.values()].sort((a, b) => a.cost - b.cost);
  }

  #perturbed(point: Point): Point {
    const changes = 2 + (this.#restarts % 3);
    let changed = point;
    for (let i = 0; i < changes; i++) {
      const knob = Math.floor(this.#random() * point.length);
      const value = Math.floor(this.#random() * this.#space.knobs[knob]!.values.length);
      changed = changed.with(knob, value);
    }
    return changed;
  }
}

/** Points with the changes of several improving points at once, most changes first. */
function combinations(from: Point, improving: readonly Point[]): Point[] {
  let all = from;
  const results: Point[] = [];
  for (const point of improving) {
    const merged = all.map((value, i) => (value !== from[i] ? value : point[i]!));
    if (all !== from) results.unshift(merged);
    all = merged;
  }
  return results;
}

/**
 * Combines the best inner parts of measured points with the best outer parts of others, best first.
 * @param measured best first
 */
function crossings({ knobs }: SearchSpace, measured: readonly Scored[]): Point[] {
  const inner = knobs.map(({ isInner }) => isInner === true);
  if (!inner.includes(true)) return [];
  const partOf = (point: Point, isInner: boolean) => point.filter((_, i) => inner[i] === isInner).join();
  /** For the best few values of these knobs, the best point with them. */
  const bestBy = (isInner: boolean) =>
    [...Map.groupBy(measured, ({ point }) => partOf(point, isInner)).values()]
      .slice(0, CROSSED)
      .map(([best]) => best!.point);
  const known = new Set(measured.map(({ point }) => point.join()));
  const outsides = bestBy(false);
  return bestBy(true)
    .flatMap((inside, i) =>
      outsides.map((outside, j) => ({
        rank: i + j,
        point: inside.map((value, knob) => (inner[knob]! ? value : outside[knob]!)),
      })),
    )
    .filter(({ point }) => !known.has(point.join()))
    .sort((a, b) => a.rank - b.rank)
    .slice(0, MOST_CROSSINGS)
    .map(({ point }) => point);
}

function shuffled(values: number[], random: Random): number[] {
  for (let i = values.length - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1));
    [values[i], values[j]] = [values[j]!, values[i]!];
  }
  return values;
}
