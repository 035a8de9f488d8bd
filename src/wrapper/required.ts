// Builds that fail instead of falling back to the default.
import { writeSync } from 'node:fs';
import { isInjected, type Decision } from '../decision/decision.ts';
import type { ExplainedLock } from '../report/explain.ts';
import type { Settings } from '../settings/index.ts';
import { exitLike } from '../system/run.ts';
import { because, type Reason } from '../system/reason.ts';

/** Exit code of a refused build. The compiler and shells do not use it. */
export const UNTUNED_EXIT_CODE = 86;

export const LOST = 'a configuration was not seen in the executables';

/** Whether a build proves that configurations landed. A build with budget 0 does not, unless `require=landed` is set. */
export const mayLook = ({ budgetSeconds, require }: Settings): boolean =>
  budgetSeconds > 0 || require === 'landed';

/** Whether a build may fall back to the default: not with `require`, and not with a frozen lock file that has the program. */
export const mayFallBack = ({ require, frozen }: Settings, lock: ExplainedLock | null): boolean =>
  require === undefined && !(frozen && lock?.used === true);

/**
 * Why `require` refuses to build with these decisions; null if it does not.
 * @param unproven why the program is not known to be correct and no slower; null if it is
 */
export function whyRefused(
  { require }: Pick<Settings, 'require'>,
  decisions: readonly Decision[],
  unproven: Reason | null,
): Reason | null {
  if (require === undefined) return null;
  if (require !== 'verified') return whyNotTuned(decisions);
  if (unproven === null || !decisions.some(isInjected)) return null;
  return because('required-missing', `the program is not verified: ${unproven.reason}`);
}

/** The first workload without a configuration, with the reason; null if all have one. */
export function whyNotTuned(decisions: readonly Decision[]): Reason | null {
  const open = decisions.filter(
    ({ tunable, configuration, outcome }) =>
      tunable !== null && configuration === null && outcome !== 'skipped',
  );
  const [first] = open;
  if (first === undefined) return null;
  const count = open.length === 1 ? '' : ` and ${open.length - 1} more workloads`;
  const what = `no configuration is known for ${first.tunable!.key}${count}`;
  return because('required-missing', `${what}: ${first.reason}`);
}

/** Ends this process with `UNTUNED_EXIT_CODE` and a message. */
export function refuse(why: string, { require }: Pick<Settings, 'require'>): never {
  const asked = require === undefined ? 'a frozen lock file' : `require=${require}`;
  const what = require === 'verified' ? 'with unverified configurations' : 'without its configurations';
  writeSync(2, `iree-compile-tuned: ${asked} allows no build ${what}: ${why}\n`);
  return exitLike({ code: UNTUNED_EXIT_CODE, signal: null, forwarded: null });
}
