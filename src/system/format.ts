// Formats of numbers and keys in messages.

/** Seconds with three digits in a suitable unit; `-` for NaN and infinity. */
export function formatSeconds(seconds: number): string {
  if (!Number.isFinite(seconds)) return '-';
  if (seconds >= 1) return `${seconds.toFixed(2)} s`;
  if (seconds >= 1e-3) return `${(seconds * 1e3).toPrecision(3)} ms`;
  return `${(seconds * 1e6).toPrecision(3)} us`;
}

/** A ratio of two times, such as `1.42x`; `-` for none. */
export const formatRatio = (ratio: number | null | undefined): string =>
  ratio === null || ratio === undefined ? '-' : `${ratio.toFixed(2)}x`;

/** The interval of a gain, to follow the gain; empty for none. */
export const intervalText = (
  gain: { readonly ratio: number; readonly low: number; readonly high: number } | null,
): string =>
  gain === null || gain.ratio === 1
    ? ''
    : ` (99% interval ${formatRatio(gain.low)} to ${formatRatio(gain.high)})`;

/** `2026-11-22 20:33 UTC` of an ISO 8601 time. */
export const timeText = (iso: string): string => `${iso.slice(0, 16).replace('T', ' ')} UTC`;

/** A share: `58%`. */
export const percent = (share: number): string => `${Math.round(100 * share)}%`;

/** `12`, `10,000`. */
export const countText = (count: number): string => count.toLocaleString('en-US');

/** `1 record`, `10,000 records`. */
export const counted = (count: number, one: string, many = `${one}s`): string =>
  `${countText(count)} ${count === 1 ? one : many}`;

/** The key of a workload without the name of its kind, if it is a contraction. */
export const shortKey = (workload: string): string => workload.replace(/^contraction /, '');

/** A duration: `0 s`, `12.3 s`, `5 min 3 s`, `2 h 5 min`. */
export function formatDuration(seconds: number): string {
  if (seconds < 60) return `${Number(seconds.toFixed(1))} s`;
  const whole = Math.round(seconds);
  const text =
    whole < 3600
      ? `${Math.floor(whole / 60)} min ${whole % 60} s`
      : `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`;
  return text.replace(/ 0 \w+$/, '');
}

/** Bytes with three digits in a suitable unit. */
export function formatBytes(bytes: number): string {
  const units = ['bytes', 'KiB', 'MiB', 'GiB'];
  const unit = Math.min(units.length - 1, Math.floor(Math.log2(Math.max(1, bytes)) / 10));
  return `${Number((bytes / 2 ** (10 * unit)).toPrecision(3))} ${units[unit]!}`;
}

/** The last line of a text that is not blank; empty for none. Programs end their messages with the reason. */
export const lastLine = (text: string): string => text.trim().split('\n').at(-1)?.trim() ?? '';
