// A build with a lock file: the locked decisions about this program, and the operations that are not locked.
import type { Override } from '../decision/decision.ts';
import { planInjection } from '../inject/plan.ts';
import { tunables, type Input } from '../input/input.ts';
import { readLock } from '../decision/lock/file.ts';
import {
  askedOf,
  decideAll,
  differencesFrom,
  overrideOf,
  programIn,
  recordsIn,
} from '../decision/lock/find.ts';
import { EMPTY_LOCK, type Lock, type LockedProgram } from '../decision/lock/lock.ts';
import { LOCK_FILE } from '../settings/files.ts';
import type { Settings } from '../settings/index.ts';
import { withoutTuning, type Surroundings } from '../settings/surroundings.ts';
import type { ExplainedForms, ExplainedLock } from '../report/explain.ts';
import { messageOf } from '../system/tell.ts';
import { injectionOptions, type Plan } from '../plan/route.ts';
import { explainNoted, inNotedForms } from '../running/variants/better-forms.ts';
import type { FormedProgram, Inspected } from '../plan/inspected.ts';
import { withSurvey } from '../input/operations.ts';
import { because } from '../system/reason.ts';

/** The locked decisions of one build. */
export interface LockedBuild {
  /** The lock file, even if there is no file. */
  readonly lock: ExplainedLock;
  /** In its locked forms, surveyed if the survey can differ from the text. */
  readonly program: FormedProgram;
  /** Null if the program is locked as written. */
  readonly forms: ExplainedForms | null;
  /** The locked decision about each operation. */
  readonly override: Override;
  /** The decisions about all operations; null if the database decides about some of them. */
  readonly whole: Pick<Plan, 'decisions' | 'injection'> | null;
}

/**
 * Reads the lock file's decisions. The file decides alone about a program that it has. It also decides alone about a changed program of the
 * same name if it has all workloads: two machines must build the same. Otherwise the database decides about the workloads that the file
 * lacks; with a frozen lock file they get the default. Never throws.
 */
export async function consultLock(found: FormedProgram, surroundings: Surroundings): Promise<LockedBuild> {
  const { settings } = surroundings;
  const { frozen, lock: path = LOCK_FILE } = settings;
  const { lock: file, problem: unread } = await readOr(path);
  const asked = askedOf(found, settings, path);
  const quiet = withoutTuning(surroundings);

  const entry = programIn(file, asked);
  if (entry !== null) {
    // Only a survey finds the convolutions.
    const isSurveyed = entry.surveyed || entry.forms.size > 0;
    const written = isSurveyed ? await withSurvey(found, quiet) : found;
    const program = await inNotedForms(written, entry.forms, quiet);
    const override = overrideOf(entry.workloads);
    if (program !== null && countOpen(program.inspected.input, override) === 0) {
      const forms = entry.forms.size === 0 ? null : explainNoted(entry.forms);
      const whole = wholeOf(program.inspected, override, entry, settings);
      return { lock: { path, used: true, problem: null }, program, forms, override, whole };
    }
  }

  const known = recordsIn(file, asked);
  const changes = differencesFrom(file, asked);
  // A file that may decide alone must decide the same whether the cache has a survey or not.
  const isAlone = known.size > 0 && (frozen || changes !== null);
  const program = isAlone ? await withSurvey(found, quiet) : found;
  const override = overrideOf(known);
  const open = countOpen(program.inspected.input, override);
  const isWhole = frozen || (changes !== null && open === 0);
  const whole = isWhole ? wholeOf(program.inspected, override, null, settings) : null;
  const why = unread ?? whyUnlike(asked.program, path, changes, frozen && open > 0);
  const problem = why && `${why}; ${consequence(open, frozen)}`;
  return { lock: { path, used: isWhole, problem }, program, forms: null, override, whole };
}

/** Why a program differs from its entry; null if there is nothing to report. */
function whyUnlike(
  program: string | null,
  path: string,
  changes: readonly string[] | null,
  isLoss: boolean,
): string | null {
  const name = program ?? 'the input';
  if (changes !== null) {
    const what = changes.length === 0 ? 'its operations differ' : changes.join(', ');
    return `${name} differs from its entry in the lock file ${path}: ${what}; iree-tuned lock updates it`;
  }
  return isLoss ? `${name} is not in the lock file ${path}; iree-tuned lock ${name} -- FLAGS adds it` : null;
}

const consequence = (open: number, frozen: boolean): string =>
  open === 0
    ? 'this build uses the locked configuration of each workload'
    : frozen
      ? `${open} ${open === 1 ? 'workload is' : 'workloads are'} left to the default (frozen)`
      : 'the database decides about workloads that are not locked';

/** The lock file; an empty one with the problem if it cannot be used. */
async function readOr(path: string): Promise<{ readonly lock: Lock; readonly problem: string | null }> {
  try {
    const lock = (await readLock(path))?.lock;
    return { lock: lock ?? EMPTY_LOCK, problem: lock ? null : `there is no lock file ${path}` };
  } catch (error) {
    return { lock: EMPTY_LOCK, problem: messageOf(error) };
  }
}

/** Number of workloads that are not locked. */
const countOpen = (input: Input, override: Override): number =>
  new Set(tunables(input).flatMap((one) => (override(one) === null ? [one.key] : []))).size;

function wholeOf(
  inspected: Inspected,
  override: Override,
  entry: LockedProgram | null,
  { inject }: Pick<Settings, 'inject'>,
): Pick<Plan, 'decisions' | 'injection'> {
  const decisions = decideAll(inspected.input.operations, override, because('frozen'));
  const wanted = entry === null || entry.route === 'none' ? inject : entry.route;
  return { decisions, injection: planInjection(decisions, injectionOptions(inspected, wanted)) };
}
