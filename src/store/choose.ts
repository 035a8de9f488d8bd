// Rules of choice among claims and records.
import { isDefault } from '../backend/configuration.ts';
import { compare, joinedEffort } from './claim.ts';
import type { TuningRecord } from './store.ts';

/** One whose configuration is marked or whose gain is not beyond doubt is never used. */
const isUsable = ({ failure, configuration, evidence }: TuningRecord): boolean =>
  failure === null && (isDefault(configuration) || evidence.low > 1);

/** The surest gain first, whoever looks. The default gains nothing: whatever may be used comes before it. */
const bySurestGain = (a: TuningRecord, b: TuningRecord): number =>
  compare(b.evidence.low, a.evidence.low) || compare(b.digest, a.digest);

/**
 * The record of a subject, given all its claims, one at least: the winner, with the effort of all searches. Where none may be
 * used, it is one that says so.
 */
export function decisionAmong(claims: readonly TuningRecord[]): TuningRecord {
  const usable = claims.filter(isUsable);
  const [best] = (usable.length > 0 ? usable : claims).toSorted(bySurestGain);
  const effort = claims.map(({ evidence }) => evidence).reduce(joinedEffort, best!.evidence);
  const { families, trials, tuningSeconds } = effort;
  return { ...best!, evidence: { ...best!.evidence, families, trials, tuningSeconds } };
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
  return usable.toSorted(bySurestGain)[0] ?? null;
}

/** Whether a search left out what another one could choose from. */
export const lacksFamily = (
  { families }: { readonly families: readonly string[] },
  wanted: readonly string[],
): boolean => wanted.some((family) => !families.includes(family));
