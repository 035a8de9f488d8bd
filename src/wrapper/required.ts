// Builds that end where they would otherwise fall back to what the compiler does by itself.
import { writeSync } from 'node:fs';
import type { Decision } from '../decision/decision.ts';
import type { Settings } from '../settings/index.ts';
import { exitLike } from '../system/run.ts';
import type { LockedBuild } from './locked.ts';

/** How such a build ends, with no output; the compiler and shells use no code like it. */
export const UNTUNED_EXIT_CODE = 86;

/** Whether a build may be done without its configurations: not where somebody asks for them, or they are locked for good. */
export const mayFallBack = ({ require, frozen }: Settings, lock: LockedBuild | null): boolean =>
  require === undefined && !(frozen && lock !== null && lock.whole !== null);

/** Why a build is not tuned whatever happens to it later; null where it is. */
export function whyNotTuned(decisions: readonly Decision[]): string | null {
  const open = decisions.filter(({ tunable, configuration }) => tunable !== null && configuration === null);
  const [first] = open;
  if (first === undefined) return null;
  const count = open.length === 1 ? '' : `, and ${open.length - 1} more like it`;
  return `nothing is known of ${first.tunable!.key}${count}: ${first.reason}`;
}

/** Ends this build. */
export function refuse(why: string, { require }: Pick<Settings, 'require'>): never {
  const asked = require === undefined ? 'a frozen lock file' : `require=${require}`;
  writeSync(2, `iree-compile-tuned: ${asked} allows no build without its configurations: ${why}\n`);
  return exitLike({ code: UNTUNED_EXIT_CODE, signal: null, forwarded: null });
}
