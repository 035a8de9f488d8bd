// Releases of the compiler: the syntax of attributes and what is understood move between them.

/** Such as [3, 13, 0]; [0, 0, 0] when it is not known, which is taken as the newest. */
export type Release = readonly [major: number, minor: number, patch: number];

/** Whether `release` is known to be older than `major.minor`. */
export const isBefore = (release: Release, major: number, minor: number): boolean =>
  release[0] !== 0 && (release[0] < major || (release[0] === major && release[1] < minor));
