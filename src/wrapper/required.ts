// Builds that fail instead of falling back to the default.
import { writeSync } from 'node:fs';
import type { Decision } from '../decision/decision.ts';
import type { Settings } from '../settings/index.ts';
import { exitLike } from '../system/run.ts';
import type { LockedBuild } from './locked.ts';
import { because, type Reason } from '../system/reason.ts';

/** Exit code of such a build. The compiler and shells do not use it. */
export const UNTUNED_EXIT_CODE = 86;

/** Why `require=landed` refuses a build. */
export const LOST = 'a configuration was not seen in the executables';

/** A build with budget 0 makes no proof, unless `require=landed` asks for one. */
export const mayLook = ({ budgetSeconds, require }: Settings): boolean =>
  budgetSeconds > 0 || require === 'landed';

/** Whether a build may fall back: not with `require`, and not with a frozen lock file that has the program. */
export const mayFallBack = ({ require, frozen }: Settings, lock: LockedBuild | null): boolean =>
  require === undefined && !(frozen && lock !== null && lock.whole !== null);

/** The first workload without a decision, with its reason; null if all have one. */
export function whyNotTuned(decisions: readonly Decision[]): Reason | null {
  const open = decisions.filter(({ tunable, configuration }) => tunable !== null && configuration === null);
  const [first] = open;
  if (first === undefined) return null;
  const count = open.length === 1 ? '' : `, and ${open.length - 1} more like it`;
  return because('required-missing', `nothing is known of ${first.tunable!.key}${count}: ${first.reason}`);
}

/** Ends this process with `UNTUNED_EXIT_CODE` and a message. */
export function refuse(why: string, { require }: Pick<Settings, 'require'>): never {
  const asked = require === undefined ? 'a frozen lock file' : `require=${require}`;
  writeSync(2, `iree-compile-tuned: ${asked} allows no build without its configurations: ${why}\n`);
  return exitLike({ code: UNTUNED_EXIT_CODE, signal: null, forwarded: null });
}
