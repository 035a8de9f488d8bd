// Log and result of a search in the formats of the auto-scheduler. Pure.
import { gflopsOf, namesOf, type Measurement } from './measurement.ts';

export interface RunSummary {
  readonly begun: Date;
  /** Seconds before the search: reading the input, creating the space. */
  readonly preparingSeconds: number;
  readonly searchSeconds: number;
  /** Size of each operation's search space, with illegal points. */
  readonly spaceSizes: readonly number[];
  /** Number of timed configurations. */
  readonly valid: number;
}

const twoDigits = (value: number) => String(value).padStart(2, '0');

/** `22/11/2026 20:33:37` in local time. */
const date = (at: Date): string =>
  `${[at.getDate(), at.getMonth() + 1].map(twoDigits).join('/')}/${at.getFullYear()} ` +
  [at.getHours(), at.getMinutes(), at.getSeconds()].map(twoDigits).join(':');

/** `0 hours 1 minutes 30 seconds` */
export function longDuration(seconds: number): string {
  const whole = Math.round(seconds);
  return `${Math.floor(whole / 3600)} hours ${Math.floor((whole % 3600) / 60)} minutes ${whole % 60} seconds`;
}

/** Text that one run appends to `run.log`. */
export function runLog({ begun, preparingSeconds, searchSeconds, spaceSizes, valid }: RunSummary): string {
  return [
    `[Date]: ${date(begun)}\n\n`,
    `[Transform Time]: ${longDuration(preparingSeconds)}\n\n`,
    `[Search Space Size]: ${spaceSizes.reduce((sum, size) => sum + size, 0)}\n\n`,
    ...spaceSizes.map((size) => `search space size is : ${size}\n`),
    `valid run: ${valid}\n`,
    `[Search Time]: ${longDuration(searchSeconds)}\n\n`,
    '=======================================\n\n',
  ].join('');
}

/** Best configuration of one operation: tiles along m, n and k, and gflops. */
export function bestLines(best: Measurement): string {
  const names = namesOf(best);
  const gflops = gflopsOf(best);
  const tiles =
    names === null
      ? 'tilesizes:(default)'
      : `tilesizes:(${names.tiles})_interchange:(012)_vectorsizes:(${names.vectors})    ${names.core} ${names.instruction}`;
  return `[Performance]: The best is ${tiles}\nwith gflops ${gflops === null ? 'Not run' : gflops.toFixed(2)}`;
}
