// Makes the entry of a program in the lock file: the configurations that a build uses now, by the database and the program's verdict, else
// by the old entry.
import { isDeepStrictEqual } from 'node:util';
import { isDefault } from '../backend/configuration.ts';
import { configurationText, isConfiguration } from '../backend/index.ts';
import type { Decision } from '../decision/decision.ts';
import { planInjection, type Injection } from '../inject/plan.ts';
import { proveLanded } from '../inject/landed.ts';
import { isTunable, type InputOperation } from '../input/operation.ts';
import { operationsAsWritten } from '../input/operations.ts';
import { askedOf, decideAll, overrideOf, programIn, recordsIn } from '../decision/lock/find.ts';
import type { Lock, LockedProgram, LockedWorkload } from '../decision/lock/lock.ts';
import { ROUTES } from '../settings/settings.ts';
import type { Surroundings } from '../settings/surroundings.ts';
import type { Speedup, Store } from '../store/store.ts';
import { parseJson } from '../store/validate.ts';
import { UserError } from '../system/user-error.ts';
import { workloadRank } from '../workload/workload.ts';
import { injectedCommand } from '../plan/injected-command.ts';
import { ledger, notePlan } from '../plan/ledger.ts';
import { injectionOptions, planCompile } from '../plan/route.ts';
import { OpenProgram } from './open-program.ts';
import { inNotedForms } from '../running/variants/better-forms.ts';
import type { FormedProgram } from '../plan/inspected.ts';
import { injectedSet, type ProgramMemory } from '../running/variants/memory.ts';
import { because } from '../system/reason.ts';

/** Why a workload has no record in a lock file. */
export const NO_RECORD = because('no-record');

/** A program to lock, as written and surveyed. */
export interface ProgramToLock extends FormedProgram {
  /** Null without a database. */
  readonly store: Store | null;
  /** The present lock file. */
  readonly lock: Lock;
  /** Path of the lock file. */
  readonly path: string;
}

/**
 * The entry of a program. Proves that its configurations land, unless the ledger has a proof.
 * @throws UserError when the program does not compile with its configurations, or its command has absolute paths or no file
 */
export async function lockedProgram(
  { store, lock, path, ...written }: ProgramToLock,
  surroundings: Surroundings,
): Promise<LockedProgram> {
  const { settings } = surroundings;
  const asked = askedOf(written, settings, path);
  const { program } = asked;
  if (program === null) throw new UserError('a lock file names programs by their files: give one');
  const absolute = asked.flags.find((flag) => /=\//.test(flag));
  if (absolute !== undefined)
    throw new UserError(
      `${absolute}: a lock file is for other machines, too: give a path relative to the working folder`,
    );
  const entry = programIn(lock, asked);
  const { forms, program: open } = await formsNow(written, store, entry, surroundings);
  const { input } = open.inspected;
  const locked = entry?.workloads ?? recordsIn(lock, asked);
  const workloads = workloadsNow(open, locked, entry !== null);
  const decide = (operations: readonly InputOperation[], by: LockedProgram['workloads'] = workloads) =>
    decideAll(operations, overrideOf(by), NO_RECORD);
  const decisions = decide(input.operations);
  const isAsBefore =
    entry !== null &&
    injectedSet(decide(input.operations, entry.workloads), '') === injectedSet(decisions, '');
  const route = isAsBefore ? entry.route : await provenRoute(open, decisions, surroundings);

  const options = injectionOptions(open.inspected, route === 'none' ? settings.inject : route);
  const texts = forms.size > 0 ? null : operationsAsWritten(input, settings);
  const surveyed =
    texts === null ||
    texts.some((operation) => isTunable(operation) && !workloads.has(operation.key)) ||
    !isDeepStrictEqual(planInjection(decide(texts), options), planInjection(decisions, options));
  return { ...asked, program, forms, route, surveyed, workloads };
}

/** The program in the forms that builds use now: the forms of the old entry if the database has no verdict. */
async function formsNow(
  written: FormedProgram,
  store: Store | null,
  entry: LockedProgram | null,
  surroundings: Surroundings,
): Promise<Pick<LockedProgram, 'forms'> & { readonly program: OpenProgram }> {
  const means = { store, surroundings };
  const { open, better } = await OpenProgram.inBetterForms(written, means);
  if (better.forms?.code === 'forms-unknown' && entry !== null) {
    const program = await inNotedForms(written, entry.forms, surroundings);
    if (program !== null) return { program: await OpenProgram.in(program, means), forms: entry.forms };
  }
  return { program: open, forms: better.names };
}

/**
 * The configuration of each workload now: from the database, else from the lock file.
 * @param isOfProgram whether the locked workloads are of this program
 */
function workloadsNow(
  open: OpenProgram,
  locked: LockedProgram['workloads'],
  isOfProgram: boolean,
): Map<string, LockedWorkload> {
  const { memory, lookup } = open;
  const workloads = new Map<string, LockedWorkload>();
  for (const { tunable, ...decision } of open.decide(new Map(), NO_RECORD)) {
    if (tunable === null || workloads.has(tunable.key)) continue;
    const { key, workload } = tunable;
    const own = lockedWorkload(key, decision, memory);
    const old = locked.get(key);
    const marked = lookup.marked.get(key);
    const isUsable =
      old !== undefined &&
      (old.kind === 'unknown' ||
        (isConfiguration(old.configuration, workloadRank(workload)) &&
          (marked === undefined || textOf(old) !== configurationText(marked))));
    workloads.set(key, isUsable && isKept(old, own, isOfProgram && memory === null) ? old : own);
  }
  return workloads;
}

/**
 * Whether an old workload stays. A machine without a record keeps another machine's record, and a machine without a verdict keeps the old
 * verdict.
 * @param isOldVerdict whether the old entry has the only verdict on the program
 */
function isKept(old: LockedWorkload, own: LockedWorkload, isOldVerdict: boolean): boolean {
  if (own.kind === 'unknown') return true;
  if (!isOldVerdict) return false;
  return old.kind === 'program' || (old.kind === 'left-out' && textOf(old) === textOf(own));
}

const textOf = (workload: LockedWorkload): string | null =>
  workload.kind === 'unknown' ? null : configurationText(workload.configuration);

function lockedWorkload(
  key: string,
  { configuration, evidence, reason }: Pick<Decision, 'configuration' | 'evidence' | 'reason'>,
  memory: ProgramMemory | null,
): LockedWorkload {
  const because = oneLine(reason);
  if (configuration !== null && evidence !== null)
    return {
      kind: 'record',
      configuration,
      speedup: isDefault(configuration) ? NO_SPEEDUP : rounded(evidence),
    };
  if (configuration !== null && !isDefault(configuration)) return { kind: 'program', configuration, because };
  const left = memory?.leftOut.find((one) => one.workload === key && one.reason === reason);
  const value = parseJson(left?.configuration);
  return isConfiguration(value) && !isDefault(value)
    ? { kind: 'left-out', configuration: value, because }
    : { kind: 'unknown', because };
}

const NO_SPEEDUP: Speedup = { ratio: 1, low: 1, high: 1 };

/** Rounds to three digits, unless no gain would be left. */
function rounded({ ratio, low, high }: Speedup): Speedup {
  const round = (value: number) => Math.round(value * 1000) / 1000;
  return round(low) > 1 ? { ratio: round(ratio), low: round(low), high: round(high) } : { ratio, low, high };
}

/** A reason as a lock file can hold it. */
const oneLine = (reason: string): string => reason.replaceAll(/\p{Cc}+/gu, ' ').slice(0, 500);

/**
 * The first route by which every configuration lands; the first of all routes if no route is such. The ledger keeps the proofs.
 * @throws UserError when the program does not compile with its configurations
 */
async function provenRoute(
  program: FormedProgram,
  decisions: readonly Decision[],
  surroundings: Surroundings,
): Promise<Injection['route']> {
  const { cacheDirectory } = surroundings;
  const next = () => planCompile(program, decisions, surroundings);
  for (let tries = 0; tries < ROUTES.length; tries++) {
    const plan = next();
    const { identity, injection } = plan;
    const known = ledger.recall(cacheDirectory, identity);
    if (known?.state === 'broken') throw new UserError(BROKEN);
    if (injection.route === 'none' || known?.landed) return injection.route;
    const injected = await injectedCommand(plan, surroundings);
    if (injected === null) return injection.route;
    const landed = await proveLanded(injected, surroundings);
    if (landed === null) throw new UserError(BROKEN);
    notePlan(cacheDirectory, identity, { landed });
  }
  return next().injection.route;
}

const BROKEN =
  'the compiler fails with the configurations to lock: build the program with iree-compile-tuned, which finds the failing one, then lock it';
