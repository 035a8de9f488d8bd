// What is decided beside the best: where that asks something of the whole program, what does not, and the other way round. Alone
// they can be compared, and which of them a program is faster with only the program can tell.
import { isDefault, type Configuration } from '../backend/configuration.ts';
import { needsOf } from '../backend/index.ts';
import type { Race } from './race.ts';
import type { Ranked, Ranks } from './ranks.ts';
import { decisionOf, type Searched, type TuningResult } from './result.ts';

/** What asks something of the program is worth trying in it from this share of the best one's speed on. */
const NEARLY = 0.8;

interface Configured {
  readonly configuration: Configuration;
}

const isPlain = ({ configuration }: Configured): boolean => needsOf(configuration) === null;

/** Whether it is of the other sort, and near enough. */
const isBeside = (best: Configured, bestRatio: number, other: Configured, ratio: number): boolean =>
  isPlain(other) !== isPlain(best) && (isPlain(other) || ratio >= NEARLY * bestRatio);

/** The best, and among several the best of the other sort. */
export function finalistsOf(ranks: Ranks, count: number): Ranked[] {
  const best = ranks.best(count);
  const [first] = best;
  if (first === undefined || count === 1) return best;
  const beside = ranks.best(Infinity).find((one) => isBeside(first, first.ratio, one, one.ratio));
  return beside === undefined || best.some((one) => isPlain(one) === isPlain(beside))
    ? best
    : [...best.slice(0, count - 1), beside];
}

/**
 * What is decided beside the decision for a configuration. Null where nothing of the other sort is surely faster than the default,
 * and where it would be taken for the better one: what is surely gained counts there.
 */
export function besideOf(best: TuningResult, raced: Race, searched: Searched): TuningResult | null {
  const { ratio, low } = best.evidence;
  if (isDefault(best.configuration)) return null;
  const standings = raced.standings.filter((one) => isBeside(best, ratio, one, one.ratio));
  const beside = decisionOf({ ...raced, standings }, searched);
  return isDefault(beside.configuration) || beside.evidence.low >= low ? null : beside;
}
