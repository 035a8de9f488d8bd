// Numbers for people.

/** Seconds in the unit and with the precision that a reader can use; `-` for what is not known. */
export function formatSeconds(seconds: number): string {
  if (!Number.isFinite(seconds)) return '-';
  if (seconds >= 1) return `${seconds.toFixed(2)} s`;
  if (seconds >= 1e-3) return `${(seconds * 1e3).toPrecision(3)} ms`;
  return `${(seconds * 1e6).toPrecision(3)} us`;
}
