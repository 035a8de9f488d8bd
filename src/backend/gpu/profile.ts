// The device's profile, which times the dispatches of a program.
import { isObject } from '../../system/data.ts';
import { resultOr } from '../../system/result-or.ts';
import { timesPerCall, type DispatchTimes, type Profile } from '../meter.ts';

export const PROFILE: Profile = {
  flags: (path) => ['--device_profiling_mode=dispatch-events', `--device_profiling_output=${path}`],
  reader: (path) => ['dispatch', '--format=jsonl', path],
  read: readProfile,
};

/**
 * Reads the groups of `iree-profile dispatch --format=jsonl`: all calls of a dispatch in a process.
 * @returns an empty map for a profile without times
 */
export function readProfile(jsonl: string): DispatchTimes {
  const groups = jsonl.split('\n').flatMap((line) => {
    const group: unknown = resultOr(() => JSON.parse(line) as unknown, null);
    if (!isObject(group) || group['type'] !== 'dispatch_group') return [];
    const { key, valid, avg_ns: nanoseconds } = group;
    return typeof key === 'string' && Number(valid) > 0 && Number(nanoseconds) > 0
      ? [{ key, count: Number(valid), seconds: Number(nanoseconds) / 1e9 }]
      : [];
  });
  return timesPerCall(groups.map(({ key, count, seconds }) => [key, { count, seconds: count * seconds }]));
}
