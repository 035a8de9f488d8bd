// A build with a lock file: its decisions about this program, and the open rest.
import { readFileSync, statSync } from 'node:fs';
import { loadBackendsIn } from '../backend/index.ts';
import type { Decision, Override } from '../decision/decision.ts';
import { planInjection, type Injection } from '../inject/plan.ts';
import { tunables, type Input } from '../input/input.ts';
import { askedOf } from '../lock/asked.ts';
import { decideAll, overrideOf } from '../lock/decide.ts';
import { readLock } from '../lock/file.ts';
import { differencesFrom, programIn, recordsIn } from '../lock/find.ts';
import type { Lock, LockedProgram } from '../lock/lock.ts';
import type { Command } from '../compiler/command.ts';
import { LOCK_FILE } from '../settings/files.ts';
import { withoutTuning, type Surroundings } from '../settings/surroundings.ts';
import type { ExplainedForms } from '../report/explain.ts';
import { messageOf } from '../system/tell.ts';
import type { Inspected } from '../plan/inspected.ts';
import { injectionOptions } from '../plan/route.ts';
import { explainNoted, inNotedForms } from './program-forms.ts';
import type { FormedProgram } from '../plan/rewritten.ts';
import { withSurvey } from './resolve.ts';
import { because } from '../system/reason.ts';

/** Effect of a lock file on one build. */
export interface LockedBuild {
  /** Path of the lock file, be it there or not. */
  readonly path: string;
  /** Why it does not fit, and the way out; null if it fits. */
  readonly problem: string | null;
  /** In the forms that it is locked in; surveyed where that counts. */
  readonly program: FormedProgram;
  /** Null where it is locked in none. */
  readonly forms: ExplainedForms | null;
  /** Its decisions about workloads. */
  readonly override: Override;
  /** The complete decision; null if the database decides about the rest. */
  readonly whole: { readonly decisions: readonly Decision[]; readonly injection: Injection } | null;
}

/**
 * Reads the lock file's decisions. A locked program is compiled as the file says. So is a changed program of the same name, if all of its
 * workloads are locked: each was measured for this target and compiler, and an edit elsewhere is no reason for two machines to differ.
 * Otherwise the locked workloads keep their configuration, and the database decides about the rest; with a frozen lock file the rest gets
 * the default. Never throws.
 */
export async function consultLock(
  found: Inspected,
  command: Command,
  surroundings: Surroundings,
): Promise<LockedBuild> {
  const { frozen, lock: path = LOCK_FILE } = surroundings.settings;
  await loadBackendsIn(textOf(path));
  const read = readOr(path);
  const lock = typeof read === 'string' ? { programs: [] } : read;
  const asked = askedOf(command, found.input.digest, found.site, surroundings.settings, path);
  const quiet = withoutTuning(surroundings);
  const survey = (inspected: Inspected) => withSurvey(inspected, command, quiet);

  const entry = programIn(lock, asked);
  if (entry !== null) {
    // Only a survey says which convolutions there are.
    const isSurveyed = entry.surveyed || entry.forms.size > 0;
    const written = { command, inspected: isSurveyed ? await survey(found) : found };
    const program = await inNotedForms(written, entry.forms, quiet);
    const override = overrideOf(entry.workloads);
    if (program !== null && countOpen(program.inspected.input, override) === 0) {
      const forms = entry.forms.size === 0 ? null : explainNoted(entry.forms);
      const whole = wholeOf(program.inspected, override, entry, surroundings);
      return { path, problem: null, program, forms, override, whole };
    }
  }

  const known = recordsIn(lock, asked);
  const changes = differencesFrom(lock, asked);
  // If the file may decide alone, an earlier survey in the cache must make no difference.
  const isAlone = known.size > 0 && (frozen || changes !== null);
  const inspected = isAlone ? await survey(found) : found;
  const override = overrideOf(known);
  const open = countOpen(inspected.input, override);
  const isWhole = frozen || (changes !== null && open === 0);
  const whole = isWhole ? wholeOf(inspected, override, null, surroundings) : null;
  const why = typeof read === 'string' ? read : whyUnlike(asked.program, path, changes, frozen && open > 0);
  const problem = why && `${why}; ${consequence(open, frozen)}`;
  return { path, problem, program: { command, inspected }, forms: null, override, whole };
}

/** Why a program is not compiled as a lock file says; null where there is nothing to be told. */
function whyUnlike(
  program: string | null,
  path: string,
  changes: readonly string[] | null,
  isLoss: boolean,
): string | null {
  const name = program ?? 'the input';
  if (changes !== null) {
    const what = changes.length === 0 ? 'its operations are others' : changes.join(', ');
    return `${name} is not what the lock file ${path} was made for: ${what}; iree-tuned lock brings it up to date`;
  }
  return isLoss ? `${name} is not in the lock file ${path}; iree-tuned lock ${name} -- FLAGS adds it` : null;
}

const consequence = (open: number, frozen: boolean): string =>
  open === 0
    ? 'what it has for each of the workloads is used'
    : frozen
      ? `${open} ${open === 1 ? 'workload is' : 'workloads are'} left to the default (frozen)`
      : 'this build goes on as without it where it says nothing';

/** Empty where nothing can be read. */
function textOf(path: string): string {
  try {
    return statSync(path).isFile() ? readFileSync(path, 'utf8') : '';
  } catch {
    return '';
  }
}

function readOr(path: string): Lock | string {
  try {
    return readLock(path)?.lock ?? `there is no lock file ${path}`;
  } catch (error) {
    return messageOf(error);
  }
}

/** How many workloads nothing is known of. */
const countOpen = (input: Input, override: Override): number =>
  new Set(tunables(input).flatMap((one) => (override(one) === null ? [one.key] : []))).size;

function wholeOf(
  inspected: Inspected,
  override: Override,
  entry: LockedProgram | null,
  { settings }: Surroundings,
): NonNullable<LockedBuild['whole']> {
  const { input, site } = inspected;
  const decisions = decideAll(input.operations, override, because('frozen'));
  const wanted = entry === null || entry.route === 'none' ? settings.inject : entry.route;
  return { decisions, injection: planInjection(decisions, injectionOptions(input, site, wanted)) };
}
