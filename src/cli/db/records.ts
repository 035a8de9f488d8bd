// Records of a command, by its filters or by a workload that the user names.
import { fits, type Filter } from '../../store/filter.ts';
import type { RecordKey, Store, TuningRecord } from '../../store/store.ts';
import { UserError } from '../../system/user-error.ts';

/** Whether the workload, the target or the device contains a text. True without a text. */
export const contains = ({ workload, target, device }: RecordKey, text: string | undefined): boolean =>
  text === undefined || [workload, target, device].some((key) => key.includes(text));

/** A filter in words, such as ` with device "zen4"`; empty for none. */
export const filterText = (filter: Filter, text?: string): string => {
  const parts = Object.entries(filter).map(([part, value]) => ` with ${part} "${value}"`);
  return [...(text === undefined ? [] : [` that contain "${text}"`]), ...parts].join('');
};

/**
 * All records of one workload, newest first.
 * @param workload its key, or a part that no other workload with records has
 * @throws UserError for no workload, or several
 */
export function recordsOf(
  store: Store,
  workload: string,
  filter: Filter,
): readonly [TuningRecord, ...TuningRecord[]] {
  const records = store.allRecords().filter((record) => fits(record, filter));
  const exact = records.filter((record) => record.workload === workload);
  const found = exact.length > 0 ? exact : records.filter((record) => record.workload.includes(workload));
  const [first, ...more] = found;
  if (first === undefined)
    throw new UserError(`no record matches "${workload}": iree-tuned db ls lists the records`);
  if (new Set(found.map((one) => one.workload)).size > 1)
    throw new UserError(
      `"${workload}" matches ${found.length} records: give more of the key:\n` +
        found.map((one) => `  ${one.workload}`).join('\n'),
    );
  return [first, ...more];
}
