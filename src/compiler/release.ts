// Releases of the compiler. Syntax and features depend on them.

/** Such as [3, 13, 0]. [0, 0, 0] is unknown, and counts as the newest. */
export type Release = readonly [major: number, minor: number, patch: number];

/** Whether `release` is known to be older than `major.minor`. */
export const isBefore = (release: Release, major: number, minor: number): boolean =>
  release[0] !== 0 && (release[0] < major || (release[0] === major && release[1] < minor));
