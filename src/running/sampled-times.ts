// Times of the dispatches of a program that runs only a sample of their workgroups: what all workgroups would take, about.
import { timesPerCall, type DispatchTimes, type Profile } from '../backend/meter.ts';
import { sampledText, workgroupsOf } from '../inject/sampled-workgroups.ts';
import { isDispatchOf } from '../input/operation.ts';
import { isObject } from '../system/data.ts';
import { resultOr } from '../system/result-or.ts';

/** Times of a sample are off by this factor at most. */
export const SAMPLE_ERROR = 4 / 3;

/**
 * The profile of such a program. Runtimes before 3.13 have none.
 * @param configured texts of its executables, before they were sampled
 */
export function sampledProfile(configured: ReadonlyMap<string, Uint8Array>): Profile {
  const executables = [...configured].flatMap(([name, text]) => (sampledText(text) === null ? [] : [name]));
  return {
    flags: (path) => ['--device_profiling_mode=host-execution', `--device_profiling_output=${path}`],
    reader: (path) => ['dispatch', '--dispatch_events', '--format=jsonl', path],
    read: (jsonl) => readEvents(jsonl, (name) => isDispatchOf({ executables }, name)),
  };
}

function readEvents(jsonl: string, isSampled: (dispatch: string) => boolean): DispatchTimes {
  const sums = new Map<string, { count: number; seconds: number }>();
  for (const line of jsonl.split('\n')) {
    const event: unknown = resultOr(() => JSON.parse(line) as unknown, null);
    if (!isObject(event) || event['type'] !== 'host_dispatch_event') continue;
    const { key, duration_ns: nanoseconds, workgroup_count: counts } = event;
    if (typeof key !== 'string' || !(Number(nanoseconds) > 0) || !Array.isArray(counts)) continue;
    const sampled = Number(counts[0]);
    const share = isSampled(key) && sampled > 0 ? sampled / workgroupsOf(sampled) : 1;
    const sum = sums.get(key) ?? { count: 0, seconds: 0 };
    sums.set(key, { count: sum.count + 1, seconds: sum.seconds + Number(nanoseconds) / 1e9 / share });
  }
  return timesPerCall([...sums]);
}
