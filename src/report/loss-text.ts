// Text about the time that a program loses. Pure.
import { formatBytes, formatSeconds, percent } from '../system/format.ts';
import type { DeviceRates, ProgramLoss } from './loss.ts';
import type { Page } from './page.ts';
import { table } from './table.ts';

/** Most dispatches in a table for people. The JSON has all. */
const MOST_ROWS = 20;

const milliseconds = (seconds: number): string => (1000 * seconds).toFixed(3);

/** For people: a table, its sums, and the rates. */
export function lossText(loss: ProgramLoss, page: Page): string {
  const { dispatches, wholeSeconds } = loss;
  const shown = dispatches.slice(0, MOST_ROWS);
  const more = dispatches.length - shown.length;
  const rows = shown.map(({ dispatch, group, seconds, share, lostSeconds, limit, unknown }) => [
    ...[lostSeconds === null ? '-' : milliseconds(lostSeconds), milliseconds(seconds)],
    ...[share === null ? '-' : percent(share), dispatch, group, limit ?? `unknown: ${unknown!}`],
  ]);
  const header = ['lost ms', 'time ms', 'of bound', 'dispatch', 'group', 'bound by'];
  return [
    table(header, rows, page),
    ...(more === 0 ? [] : [`and ${more} more, with smaller losses or without a bound`]),
    sumsText(loss),
    ...(wholeSeconds === null
      ? ['The time outside of dispatches was not noted: iree-tuned profile times it.']
      : []),
    ratesText(loss.rates),
  ].join('\n');
}

/** `Lost: 1.2 ms of 3.4 ms in dispatches. ...`. */
export function sumsText({
  lostSeconds,
  unknownSeconds,
  dispatchSeconds,
  wholeSeconds,
  outsideSeconds,
}: Omit<ProgramLoss, 'dispatches' | 'rates'>): string {
  return [
    lostSeconds === null
      ? `No dispatch has a bound; all take ${formatSeconds(dispatchSeconds)}.`
      : `Lost against the bounds: ${formatSeconds(lostSeconds)} of ${formatSeconds(dispatchSeconds)} in dispatches.`,
    ...(lostSeconds !== null && unknownSeconds > 0
      ? [`Without a bound: ${formatSeconds(unknownSeconds)}.`]
      : []),
    ...(wholeSeconds === null || outsideSeconds === null
      ? []
      : outsideSeconds < 0
        ? [`A call takes ${formatSeconds(wholeSeconds)}, less than its dispatches: some of them ran at once.`]
        : [
            `Outside of dispatches: ${formatSeconds(outsideSeconds)} of a call of ${formatSeconds(wholeSeconds)}.`,
          ]),
  ].join(' ');
}

/** The rates behind the bounds, or why there are none. */
export function ratesText({ bytesPerSecond, cache, multiplicationsPerSecond }: DeviceRates): string {
  const billions = (rate: number) => (rate / 1e9).toFixed(1);
  const peaks = Object.entries(multiplicationsPerSecond).map(
    ([type, rate]) => `${billions(rate)} of ${type}`,
  );
  const cached =
    cache === null ? '' : `, ${billions(cache.bytesPerSecond)} from caches up to ${formatBytes(cache.bytes)}`;
  const memory =
    bytesPerSecond === null
      ? ': its memory rate is not measured'
      : ` reads ${billions(bytesPerSecond)} GB/s${cached}`;
  return `This machine${memory}; 10^9 multiply-adds per second: ${peaks.length === 0 ? 'not measured' : peaks.join(', ')}.`;
}
