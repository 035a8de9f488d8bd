// A search that a prior guides: it tries what is likely to be best, and learns from each trial what the prior did not know.
import { coordinateDescent } from './descent.ts';
import { leavesOf, predictionAt } from './forest.ts';
import { Trials } from './likeness.ts';
import type { Guide, Point, SearchSpace } from './space.ts';
import {
  randomPoint,
  unseen,
  type Observation,
  type Random,
  type Strategy,
  type StrategyFactory,
} from './strategy.ts';

/** Guided by the space's prior; a descent where it has none. */
export const guidedSearch: StrategyFactory = (space, random) =>
  space.guide === undefined ? coordinateDescent(space, random) : new Guided(space, space.guide, random);

/** Points of the space that are looked at before the first trial. */
const POOL = 1500;

/** Those that the prior likes best are compared with what was tried. */
const COMPARED = 600;

/** Points that are chosen at once, whether or not they are asked for at once: to choose takes longer than to measure a few. */
const CHOSEN = 16;

/** Measured points whose neighbours are looked at. */
const BEST = 4;

/** How much uncertainty is worth while there is much to learn. */
const CURIOSITY = 0.6;

/** What fails counts as this many times as slow, as a logarithm. */
const FAILED = 3;

interface Candidate {
  readonly point: Point;
  readonly predicted: number;
  readonly leaves: Uint8Array;
}

interface Tried extends Candidate {
  /** Logarithm of the time relative to the default's. */
  readonly cost: number;
}

/** What trials say of a candidate. */
interface Scored {
  readonly candidate: Candidate;
  readonly mean: number;
  readonly deviation: number;
}

/** How slow a candidate is at best: what is uncertain may be better than it seems. */
const hopeOf = ({ mean, deviation }: Scored): number => mean - CURIOSITY * deviation;

const byHope = (a: Scored, b: Scored): number => hopeOf(a) - hopeOf(b);

class Guided implements Strategy {
  readonly name = 'guided';
  readonly patience = 1;
  readonly enough = 64;
  readonly #space: SearchSpace;
  readonly #guide: Guide;
  readonly #random: Random;
  readonly #isNew: (point: Point) => boolean;
  readonly #pool = new Map<string, Candidate>();
  readonly #tried = new Map<string, Tried>();
  /** Proposed and not measured yet. */
  readonly #open = new Map<string, Candidate>();
  /** Chosen and not proposed yet. */
  #chosen: Point[] = [];
  #isFirst = true;

  constructor(space: SearchSpace, guide: Guide, random: Random) {
    this.#space = space;
    this.#guide = guide;
    this.#random = random;
    this.#isNew = unseen(space);
  }

  propose(limit: number): Point[] {
    const points = this.#chosen.splice(0, limit);
    if (points.length < limit) this.#chosen = this.#chooseNext(Math.max(CHOSEN, limit - points.length));
    return [...points, ...this.#chosen.splice(0, limit - points.length)];
  }

  #chooseNext(limit: number): Point[] {
    if (this.#isFirst) this.#fill();
    else this.#addNeighbours();
    const trials = new Trials(this.#guide.doubt);
    const known = [...this.#tried.values()];
    for (const { leaves } of known) trials.add(leaves);
    const offset = this.#offset(known);
    const solved = trials.solved(known.map(({ cost, predicted }) => cost - offset - predicted));
    const likely = [...this.#pool.values()].sort((a, b) => a.predicted - b.predicted).slice(0, COMPARED);
    const scored = likely.map((candidate): Scored => {
      const row = trials.against(candidate.leaves);
      const mean = candidate.predicted + row.reduce((sum, one, i) => sum + one * solved[i]!, 0);
      return { candidate, mean, deviation: trials.deviationAt(row) };
    });
    const best = this.#isFirst ? this.#knownBest() : [];
    this.#isFirst = false;
    return [...best, ...this.#choose(scored, trials, limit - best.length)];
  }

  /** What was best in earlier searches is measured in any case. */
  #knownBest(): Point[] {
    const known = this.#space.starts.slice(0, this.#space.known ?? 0).filter((point) => this.#isNew(point));
    for (const point of known) this.#take(point);
    return known;
  }

  /** Moves a point from the pool to those that are being measured. */
  #take(point: Point): void {
    const key = point.join();
    const candidate = this.#pool.get(key);
    this.#pool.delete(key);
    if (candidate !== undefined) this.#open.set(key, candidate);
  }

  observe(observations: readonly Observation[]): void {
    for (const { point, cost } of observations) {
      const key = point.join();
      const candidate = this.#open.get(key) ?? this.#tried.get(key) ?? this.#candidateAt(point);
      if (candidate === null) continue;
      this.#open.delete(key);
      this.#pool.delete(key);
      this.#tried.set(key, { ...candidate, cost: cost === null ? FAILED : Math.log2(cost) });
    }
  }

  /** The best ones, each beside those that were chosen before it: what is like them is no news then. */
  #choose(scored: readonly Scored[], trials: Trials, limit: number): Point[] {
    // Only few can be among the best.
    let left = scored.toSorted(byHope).slice(0, 12 * limit);
    const points: Point[] = [];
    while (points.length < limit && left.length > 0) {
      const { point, leaves } = left.shift()!.candidate;
      if (!this.#isNew(point)) {
        this.#pool.delete(point.join());
        continue;
      }
      points.push(point);
      this.#take(point);
      trials.add(leaves);
      left = left
        .map((one) => ({ ...one, deviation: trials.deviationAt(trials.against(one.candidate.leaves)) }))
        .sort(byHope);
    }
    return points;
  }

  /** Logarithm of the best's time relative to the default's, as far as trials tell. */
  #offset(known: readonly Tried[]): number {
    const differences = known.map(({ cost, predicted }) => cost - predicted).sort((a, b) => a - b);
    return differences[Math.floor(differences.length / 2)] ?? 0;
  }

  #fill(): void {
    const points = [...this.#space.starts];
    for (let i = 0; i < POOL; i++) points.push(randomPoint(this.#space, this.#random));
    this.#add(points);
    // The best of what was drawn at random has better neighbours.
    for (let round = 0; round < 2; round++) {
      const best = [...this.#pool.values()].sort((a, b) => a.predicted - b.predicted).slice(0, 4 * BEST);
      this.#add(best.flatMap(({ point }) => this.#around(point)));
    }
  }

  #addNeighbours(): void {
    const best = [...this.#tried.values()].sort((a, b) => a.cost - b.cost).slice(0, BEST);
    for (const [i, { point }] of best.entries()) {
      const near = this.#around(point);
      this.#add(near);
      // Two changes at once, and the changes of two good points together.
      if (near.length > 0)
        this.#add(
          Array.from({ length: 64 }, () => {
            const one = near[Math.floor(this.#random() * near.length)]!;
            const other = near[Math.floor(this.#random() * near.length)]!;
            return point.map((value, knob) => (one[knob] === value ? other[knob]! : one[knob]!));
          }),
        );
      for (const other of best.slice(i + 1))
        this.#add(
          Array.from({ length: 16 }, () =>
            point.map((value, knob) => (this.#random() < 0.5 ? value : other.point[knob]!)),
          ),
        );
    }
  }

  #around(point: Point): Point[] {
    return this.#space.knobs.flatMap(({ values }, knob) =>
      values.flatMap((_, value) => (value === point[knob] ? [] : [point.with(knob, value)])),
    );
  }

  #add(points: readonly Point[]): void {
    for (const point of points) {
      const key = point.join();
      if (this.#pool.has(key) || this.#tried.has(key) || this.#open.has(key)) continue;
      const candidate = this.#candidateAt(point);
      if (candidate !== null) this.#pool.set(key, candidate);
    }
  }

  #candidateAt(point: Point): Candidate | null {
    const { forest } = this.#guide;
    const features = this.#guide.featuresAt(point);
    if (features === null) return null;
    const leaves = leavesOf(forest, features);
    return { point, predicted: predictionAt(forest, leaves), leaves };
  }
}
