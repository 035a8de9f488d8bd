// Processors of another machine on which programs run: the setting `runner-cpus`. Boards have fast and slow ones.
import { numbersOf } from '../system/processor.ts';

/** Most processors of a machine. */
const MOST = 4096;

/** Whether a text is a list such as `4-7` or `0,2`. */
export const isCpuList = (text: string): boolean =>
  /^\d{1,4}(?:-\d{1,4})?(?:,\d{1,4}(?:-\d{1,4})?)*$/.test(text) &&
  numbersOf(text).every((cpu) => cpu < MOST) &&
  numbersOf(text).length > 0;

/** Words before a command line that runs on these processors only. All versions of `taskset`, Android's too, take a mask in hexadecimal digits. */
export function pinned(cpus: string | null): readonly string[] {
  if (cpus === null) return [];
  const mask = numbersOf(cpus).reduce((bits, cpu) => bits | (1n << BigInt(cpu)), 0n);
  return ['taskset', mask.toString(16)];
}
