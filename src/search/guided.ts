// A search with a prior: it tries the points with the best expected times, and corrects the prior by each trial.
import { coordinateDescent } from './descent.ts';
import { leavesOf, predictionAt } from './forest.ts';
import { Trials } from './likeness.ts';
import { neighbours, type Guide, type Point, type SearchSpace } from './space.ts';
import {
  randomPoint,
  unseen,
  type Observation,
  type Random,
  type Strategy,
  type StrategyFactory,
} from './strategy.ts';

/** A guided search; a descent for a space without a prior. */
export const guidedSearch: StrategyFactory = (space, random) =>
  space.guide === undefined ? coordinateDescent(space, random) : new Guided(space, space.guide, random);

/** Random points in the pool before the first trial. */
const POOL = 400;

/** Number of the pool's best points by the prior that trials correct. */
const COMPARED = 600;

/**
 * Points of one choice, and most points of a batch. Two batches of 12 find as much as two of 16. A choice takes longer than measuring a
 * few points, so smaller batches share one.
 */
const CHOSEN = 12;

/** Number of the best points whose neighbours join the pool. */
const BEST = 4;

/**
 * Standard deviations that are subtracted from the expected cost: exploration against exploitation. Processors that the prior does not
 * know have other favourites. There, 0.6 finds up to a third less, and on known processors it finds no more.
 */
const CURIOSITY = 1.5;

/** A gain that is worth another batch, as a base-2 logarithm: 2%. */
const WORTHWHILE = Math.log2(1.02);

/**
 * Least chance of such a gain for which another batch is tried. The points of a batch are much alike, so that the real chance is about a
 * twentieth of the computed one.
 */
const LEAST_CHANCE = 0.3;

/** Trials within this distance of the best one, as a base-2 logarithm, show how well the prior fits this workload. */
const NEAR_BEST = 0.5;

/** Cost of a failed trial, as a base-2 logarithm relative to the default. */
const FAILED = 3;

interface Candidate {
  readonly point: Point;
  readonly predicted: number;
  readonly leaves: Uint16Array;
}

interface Tried extends Candidate {
  /** Base-2 logarithm of the time relative to the default's. */
  readonly cost: number;
}

/** The corrected prediction for a candidate. */
interface Scored {
  readonly candidate: Candidate;
  readonly mean: number;
  readonly deviation: number;
}

/** Lower confidence bound of the cost. */
const boundOf = ({ mean, deviation }: Scored): number => mean - CURIOSITY * deviation;

/** Share of a normal distribution below this many standard deviations. Approximation by a logistic curve, exact to 0.0002. */
const normalBelow = (z: number): number => 1 / (1 + Math.exp(-(1.5976 * z + 0.07056 * z ** 3)));

const byBound = (a: Scored, b: Scored): number => boundOf(a) - boundOf(b);

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
    const most = Math.min(limit, CHOSEN);
    const points = this.#chosen.splice(0, most);
    if (points.length < most) this.#chosen = this.#chooseNext();
    return [...points, ...this.#chosen.splice(0, most - points.length)];
  }

  #chooseNext(): Point[] {
    if (this.#isFirst) this.#fill();
    else this.#addNeighbours();
    const trials = new Trials(this.#guide.doubt);
    const known = [...this.#tried.values()];
    for (const { leaves } of known) trials.add(leaves);
    const offset = this.#offset(known);
    const solved = trials.solved(known.map(({ cost, predicted }) => cost - offset - predicted));
    const likely = [...this.#pool.values()].sort((a, b) => a.predicted - b.predicted).slice(0, COMPARED);
    const scored = likely
      .map((candidate): Scored => {
        const row = trials.against(candidate.leaves);
        const mean = candidate.predicted + row.reduce((sum, one, i) => sum + one * solved[i]!, 0);
        return { candidate, mean, deviation: trials.deviationAt(row) };
      })
      .sort(byBound);
    const mayEnd = !this.#isFirst && this.#guide.isMeasured;
    if (mayEnd && this.#chanceOfGain(scored.slice(0, CHOSEN), known, offset) < LEAST_CHANCE) return [];
    const best = this.#isFirst ? this.#knownBest() : [];
    this.#isFirst = false;
    return [...best, ...this.#choose(scored, trials, CHOSEN - best.length)];
  }

  /** Chance that one of these candidates is better than all trials by a worthwhile gain, if their errors are independent. */
  #chanceOfGain(some: readonly Scored[], known: readonly Tried[], offset: number): number {
    const best = Math.min(...known.map(({ cost }) => cost));
    const near = known.filter(({ cost }) => cost < best + NEAR_BEST);
    const squares = near.map(({ cost, predicted }) => (cost - offset - predicted) ** 2);
    const error = Math.sqrt(squares.reduce((sum, one) => sum + one, 0) / near.length);
    // The prior may fit this workload worse than others.
    const scale = Math.max(1, error / this.#guide.doubt.ofPrior);
    const chances = some.map(({ mean, deviation }) =>
      normalBelow((best - offset - WORTHWHILE - mean) / (scale * deviation)),
    );
    return 1 - chances.reduce((none, one) => none * (1 - one), 1);
  }

  /** The best points of earlier searches, which are always measured. */
  #knownBest(): Point[] {
    const known = this.#space.starts.slice(0, this.#space.known ?? 0).filter((point) => this.#isNew(point));
    for (const point of known) this.#take(point);
    return known;
  }

  /** Moves a point from the pool to the open points. */
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

  /** The best points of scored ones, lowest bound first. After each choice, similar points lose their uncertainty, so the choices differ. */
  #choose(scored: readonly Scored[], trials: Trials, limit: number): Point[] {
    // The rest cannot become the best.
    let left = scored.slice(0, 12 * limit);
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
        .sort(byBound);
    }
    return points;
  }

  /** Estimated base-2 logarithm of the best point's time relative to the default's: the median over trials. */
  #offset(known: readonly Tried[]): number {
    const differences = known.map(({ cost, predicted }) => cost - predicted).sort((a, b) => a - b);
    return differences[Math.floor(differences.length / 2)] ?? 0;
  }

  #fill(): void {
    const points = [...this.#space.starts];
    for (let i = 0; i < POOL; i++) points.push(randomPoint(this.#space, this.#random));
    this.#add(points);
    // The best random points have better neighbours. These find what a pool of four times as many random points has, in a third of the time.
    for (let round = 0; round < 3; round++) {
      const best = [...this.#pool.values()].sort((a, b) => a.predicted - b.predicted).slice(0, BEST);
      this.#add(best.flatMap(({ point }) => neighbours(point, this.#space)));
    }
  }

  #addNeighbours(): void {
    const best = [...this.#tried.values()].sort((a, b) => a.cost - b.cost).slice(0, BEST);
    for (const [i, { point }] of best.entries()) {
      const near = neighbours(point, this.#space);
      this.#add(near);
      // Two changes at once, then mixtures of two good points.
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
