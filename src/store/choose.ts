// Rules of choice among claims and records.
import { isDefault, type Configuration } from '../backend/configuration.ts';
import { needsOf } from '../backend/index.ts';
import { compare, joinedEffort, type Effort } from './claim.ts';
import type { TuningRecord } from './store.ts';

/** One whose configuration is marked or whose gain is not beyond doubt is never used. */
const isUsable = ({ failure, configuration, evidence }: TuningRecord): boolean =>
  failure === null && (isDefault(configuration) || evidence.low > 1);

/** What a claim is ranked by. */
interface Gain {
  readonly low: number;
  readonly digest: string;
}

/** The surest gain first, whoever looks. The default gains nothing: whatever may be used comes before it. */
const bySurestGain = (a: Gain, b: Gain): number => compare(b.low, a.low) || compare(b.digest, a.digest);

/** A claim of a subject, as far as it has to be looked at: a hit needs no more than the winner. */
export interface Candidate extends Gain {
  /** Null where that is not sound. */
  readonly effort: () => Effort | null;
  /** Null where it is not sound. */
  readonly record: () => TuningRecord | null;
  /** Null where it is not sound. */
  readonly configuration: () => Configuration | null;
}

/**
 * The record of a subject, given all its claims: the winner, with the effort of all searches, and the best of the other sort
 * beside it. Where none may be used, it is one that says so; null where none is sound.
 */
export function decisionAmong(claims: readonly Candidate[]): TuningRecord | null {
  let best: TuningRecord | null = null;
  const sorted = claims.toSorted(bySurestGain);
  for (const claim of sorted) {
    const record = claim.record();
    if (record === null) continue;
    const isFound = isUsable(record);
    if (isFound) best = record;
    else best ??= record;
    if (isFound) break;
  }
  if (best === null || claims.length === 1) return best;
  const efforts = claims.map(({ effort }) => effort()).filter((effort) => effort !== null);
  const { families, trials, tuningSeconds } = efforts.reduce(joinedEffort, best.evidence);
  const alternative = besideOf(best, sorted);
  const evidence = { ...best.evidence, families, trials, tuningSeconds };
  return { ...best, evidence, ...(alternative && { alternative }) };
}

/** @param sorted the best first */
function besideOf(best: TuningRecord, sorted: readonly Candidate[]): TuningRecord | null {
  const asks = needsOf(best.configuration) !== null;
  for (const claim of sorted) {
    const configuration = claim.configuration();
    if (configuration === null || isDefault(configuration) || (needsOf(configuration) !== null) === asks)
      continue;
    const record = claim.record();
    if (record !== null && isUsable(record)) return record;
  }
  return null;
}

/** The record to use: one measured on this very device, else, when tuning here is impossible, the best one of another device. */
export function chooseRecord(
  records: readonly TuningRecord[],
  device: string,
  canTuneHere: boolean,
): TuningRecord | null {
  const usable = records.filter(isUsable);
  const own = usable.find((record) => record.device === device);
  if (own !== undefined || canTuneHere) return own ?? null;
  const gain = ({ evidence, digest }: TuningRecord): Gain => ({ low: evidence.low, digest });
  return usable.toSorted((a, b) => bySurestGain(gain(a), gain(b)))[0] ?? null;
}

/** Whether a search left out what another one could choose from. */
export const lacksFamily = (
  { families }: { readonly families: readonly string[] },
  wanted: readonly string[],
): boolean => wanted.some((family) => !families.includes(family));
