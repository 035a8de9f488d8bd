// A sample of a dispatch's workgroups: a slow program that runs only these says in seconds where its time goes. Of many workgroups a smaller
// share runs. The number of all workgroups follows from the number in the sample, up to a third. Pure.
import { timesPerCall, type DispatchTimes, type Profile } from '../backend/meter.ts';
import { isDispatchOf } from '../input/operation.ts';
import { bufferOf } from '../system/bytes.ts';
import { isObject } from '../system/data.ts';
import { resultOr } from '../system/result-or.ts';

/** Workgroups that run from each group of steps. A group has twice the step of the group before. */
const PER_GROUP = 2;

/** The last group is open. */
const GROUPS = 24;

/** First workgroup of a group of steps, counted from 0. */
const beginOf = (group: number): number => PER_GROUP * (2 ** group - 1);

/** The computed number of workgroups, and where it is returned. */
const COUNT =
  /^( *)(%\w+)(, %\w+, %\w+ = [\w.]+\.workgroup_count_from_slice\(.*\n)( *(?:hal\.return|iree_codegen\.yield) )\2,/gm;

/**
 * The text of an executable that runs a sample of the workgroups along its first dimension.
 * @param text source or configured executable
 * @returns null for a text without a computed number of workgroups
 */
export function sampledText(text: Uint8Array): Uint8Array | null {
  const before = bufferOf(text).toString('latin1');
  const after = before.replaceAll(
    COUNT,
    (_, indent: string, count: string, computed: string, returned: string) =>
      `${indent}${count}${computed}${sampleOf(count)
        .map((line) => `${indent}${line}\n`)
        .join('')}${returned}%sample,`,
  );
  return after === before ? null : Buffer.from(after, 'latin1');
}

/** Lines that define `%sample`, the number of workgroups in the sample. */
function sampleOf(count: string): string[] {
  const lines = [
    '%sample_none = arith.constant 0 : index',
    `%sample_most = arith.constant ${PER_GROUP} : index`,
  ];
  let sum = '%sample_none';
  for (let group = 0; group < GROUPS; group++) {
    const own = `%sample_${group}`;
    const isLast = group === GROUPS - 1;
    const next = isLast ? '%sample' : `${own}_sum`;
    lines.push(
      `${own}_begin = arith.constant ${beginOf(group)} : index`,
      `${own}_step = arith.constant ${2 ** group} : index`,
      `${own}_left = arith.subi ${count}, ${own}_begin : index`,
      `${own}_here = arith.maxsi ${own}_left, %sample_none : index`,
      `${own}_steps = arith.ceildivui ${own}_here, ${own}_step : index`,
      ...(isLast ? [] : [`${own}_run = arith.minui ${own}_steps, %sample_most : index`]),
      `${next} = arith.addi ${sum}, ${isLast ? `${own}_steps` : `${own}_run`} : index`,
    );
    sum = next;
  }
  return lines;
}

/** Number of all workgroups, about. @param sampled workgroups of the sample */
export function workgroupsOf(sampled: number): number {
  if (sampled <= PER_GROUP) return sampled;
  const group = Math.min(GROUPS - 1, Math.floor((sampled - 1) / PER_GROUP));
  const steps = sampled - PER_GROUP * group;
  // The middle of all numbers that give this sample.
  return beginOf(group) + (steps - 1) * 2 ** group + (2 ** group + 1) / 2;
}

/** Times of a sample are off by this factor at most. */
export const SAMPLE_ERROR = 4 / 3;

/**
 * The profile of a program that runs such a sample: what all workgroups would take, about. Runtimes before 3.13 have none.
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
