// Rules of choice among records.
import { isDefault } from '../backend/configuration.ts';
import type { TuningRecord } from './store.ts';

/**
 * The record to use: one measured on this very device, else, when tuning here is impossible, the best one of another
 * device. A record whose configuration is marked or whose gain is not beyond doubt is never used.
 */
export function chooseRecord(
  records: readonly TuningRecord[],
  device: string,
  canTuneHere: boolean,
): TuningRecord | null {
  const usable = records.filter(
    ({ failure, configuration, evidence }) =>
      failure === null && (isDefault(configuration) || evidence.low > 1),
  );
  const own = usable.find((record) => record.device === device);
  if (own !== undefined || canTuneHere) return own ?? null;
  return usable.toSorted((a, b) => b.evidence.low - a.evidence.low)[0] ?? null;
}

/** Whether a search left out what another one could choose from. */
export const lacksFamily = (
  { families }: { readonly families: readonly string[] },
  wanted: readonly string[],
): boolean => wanted.some((family) => !families.includes(family));
