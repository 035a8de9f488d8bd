// Chooses among claims and records.
import { isDefault, type Configuration } from '../backend/configuration.ts';
import { needsOf } from '../backend/index.ts';
import { compare, joinedEffort, type Effort } from './claim.ts';
import type { TuningRecord } from './store.ts';

/** Whether a record may be used: it has no mark, and its gain is certain. */
const isUsable = ({ failure, configuration, evidence }: TuningRecord): boolean =>
  failure === null && (isDefault(configuration) || evidence.low > 1);

/** The order of claims. */
interface Gain {
  readonly low: number;
  readonly digest: string;
}

/** The surest gain first. Usable claims come before the default, which gains nothing. */
const bySurestGain = (a: Gain, b: Gain): number => compare(b.low, a.low) || compare(b.digest, a.digest);

/** A claim whose parts are parsed on demand, because a hit needs the winner only. An invalid part is null. */
export interface Candidate extends Gain {
  readonly effort: () => Effort | null;
  readonly record: () => TuningRecord | null;
  readonly configuration: () => Configuration | null;
}

/** A claim that is parsed already. */
export const candidateOf = (record: TuningRecord): Candidate => ({
  low: record.evidence.low,
  digest: record.digest,
  effort: () => record.evidence,
  record: () => record,
  configuration: () => record.configuration,
});

/**
 * The record of a subject from all its claims: the winner with the effort of all searches, and in `alternative` the best claim of the other sort.
 * Without a usable claim it is an unusable one; null without a valid claim.
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
  const alternative = alternativeOf(best, sorted);
  const evidence = { ...best.evidence, families, trials, tuningSeconds };
  return { ...best, evidence, ...(alternative && { alternative }) };
}

/** @param sorted claims, the best first */
function alternativeOf(best: TuningRecord, sorted: readonly Candidate[]): TuningRecord | null {
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

/** The record to use: this device's, or if tuning is impossible here, the best of another device; null for none. */
export function chooseRecord(
  records: readonly TuningRecord[],
  device: string,
  canTuneHere: boolean,
): TuningRecord | null {
  const usable = records.filter(isUsable);
  const own = usable.find((record) => record.device === device);
  if (own !== undefined || canTuneHere) return own ?? null;
  return usable.toSorted((a, b) => bySurestGain(candidateOf(a), candidateOf(b)))[0] ?? null;
}

/** Whether a search lacked one of the wanted families. */
export const lacksFamily = (
  { families }: { readonly families: readonly string[] },
  wanted: readonly string[],
): boolean => wanted.some((family) => !families.includes(family));
