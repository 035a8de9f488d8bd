// Runs a program, stock against tuned, and notes the verdict in the database. Later builds leave out the configurations that make the program
// slower or wrong. Not loaded on a hit.
import { configurationText } from '../backend/index.ts';
import {
  isInjected,
  leaveOut,
  plainAlternative,
  withConfigurations,
  type Decision,
  type Injected,
} from '../decision/decision.ts';
import { KeptModules } from '../plan/kept-modules.ts';
import { planCompile } from '../plan/route.ts';
import { shippable } from '../plan/unproven.ts';
import type { LeftOutWorkload } from '../program/judge.ts';
import { seenInProgram, type Seen } from '../program/seen.ts';
import { notVerified, type ProgramVerdict } from '../program/verdict.ts';
import { terminalOf } from '../report/terminal.ts';
import type { Surroundings } from '../settings/surroundings.ts';
import { BUSY, takeTurn } from '../site/turn.ts';
import { writtenNow } from '../store/author.ts';
import type { Store } from '../store/store.ts';
import { because, type Reason } from '../system/reason.ts';
import { tell } from '../system/tell.ts';
import { NotVerifiedError } from './callable.ts';
import { interruptible } from './interruptible.ts';
import { limitsWithin, type Limits } from './limits.ts';
import type { Confirmed } from './program-rounds.ts';
import { noteOn, withVariant } from './variants/data-tiling.ts';
import { injectedSet, isWorthTrying, programMemory, worse, type KnownProgram } from './variants/memory.ts';
import { NO_VERDICT } from './variants/variant.ts';
import { verifyTuned, type Verification } from './verify-program.ts';

/** The database, the settings and the modules of a run. */
export interface RunMeans {
  readonly store: Store;
  readonly surroundings: Surroundings;
  /** Collects the compiled modules. */
  readonly kept: KeptModules;
}

/** The decisions to inject after a run. */
export interface Judged {
  readonly decisions: readonly Decision[];
  /** Null if there was nothing to verify. */
  readonly verdict: ProgramVerdict | null;
  /** Why the program with them is not known to be correct and no slower; null if it is. */
  readonly unproven: Reason | null;
  /** Whether the next build injects the same without another run. */
  readonly isFinal: boolean;
}

/**
 * Runs the program, notes the verdict, and marks configurations. The caller holds the measuring lock.
 * @param isShort whether only a later build has the time for the variant
 */
export async function judgeProgram(whole: KnownProgram, means: RunMeans, isShort: boolean): Promise<Judged> {
  const { surroundings, store, kept } = means;
  const program = isShort ? { ...whole, variant: NO_VERDICT.chosen } : whole;
  const isPostponed = program.variant.size < whole.variant.size;
  const limits = limitsWithin(surroundings.settings, program.command.rewriting !== undefined);
  const terminal = terminalOf(null);
  terminal.runProgram(limits.runSeconds);
  try {
    const verification = await interruptible(
      terminal,
      (signal) => verifyTuned({ ...program, surroundings, kept, limits, signal }),
      () => {
        store.close();
      },
    );
    const judged = conclude(program, verification, means);
    terminal.endProgram(judged.verdict ?? verification.verdict);
    return { ...judged, isFinal: judged.isFinal && !isPostponed };
  } catch (error) {
    if (!(error instanceof NotVerifiedError)) throw error;
    const { why } = error;
    const verdict = notVerified(why);
    if (!error.isLate) {
      const isFinal = why.code !== 'data-unusable';
      // A replay would not repeat the message.
      if (!isFinal) tell(`the program was not run: ${why.reason}`, surroundings.settings.log);
      return { ...shippable(program.decisions, why, verdict), unproven: why, isFinal };
    }
    const judgement = { kept: [], leftOut: [], open: why };
    const variant = { ...NO_VERDICT, isOpen: true };
    return conclude(program, { verdict, judgement, workloads: [], variant }, means);
  }
}

const UNLIMITED: Limits = {
  ...{ compileSeconds: Infinity, runSeconds: Infinity },
  ...{ inputBytes: Infinity, allInputBytes: Infinity },
};

/**
 * Runs the program without limits. The new verdict replaces an earlier verdict.
 * @throws UserError when the program does not compile, the measuring lock is held, or the runtime's tools are missing
 */
export async function verifyOnDemand(
  asked: Omit<KnownProgram, 'memory' | 'variant'>,
  store: Store,
  surroundings: Surroundings,
): Promise<ProgramVerdict> {
  const measuring = { ...surroundings, device: asked.inspected.site.device };
  using turn = await takeTurn(measuring, surroundings.settings.budgetSeconds);
  if (turn === null)
    throw new NotVerifiedError(because('lock-busy', `the program was not verified: ${BUSY.reason}`));
  using kept = new KeptModules();
  const program = withVariant({ ...asked, memory: null }, surroundings.settings);
  const { signal } = new AbortController();
  const verification = await verifyTuned({ ...program, surroundings, kept, limits: UNLIMITED, signal });
  conclude(program, verification, { store, surroundings });
  return verification.verdict;
}

/** Notes the verdict that tuning has reached, and shows it on a terminal. */
export function concludeConfirmed(
  program: KnownProgram,
  confirmed: Confirmed,
  means: Omit<RunMeans, 'kept'>,
): Judged {
  terminalOf(null).endProgram(confirmed.verdict);
  return conclude(program, confirmed, means);
}

/** Notes the verdict on a program. */
function conclude(
  program: KnownProgram,
  { verdict, judgement, workloads, variant }: Verification,
  { store, surroundings }: Omit<RunMeans, 'kept'>,
): Judged {
  const { inspected, decisions, identity, memory } = program;
  const { budgetSeconds, readonly } = surroundings.settings;
  const left = new Map(judgement.leftOut.map((one) => [one.key, one]));
  const kept = leaveOut(decisions, (key) => worse(left.get(key)?.reason));
  const found = decisions.filter(isInjected).filter(({ tunable }) => left.has(tunable.key));
  const added = found.map(({ tunable: { key: workload }, configuration }) => {
    const { reason } = left.get(workload)!;
    return { workload, configuration: configurationText(configuration), reason };
  });
  const leftOut = new Map(
    [...(memory?.leftOut ?? []), ...added].map((one) => [`${one.workload} ${one.configuration}`, one]),
  );
  const wanted = withConfigurations(kept, variant.chosen, variant.reason);
  const seen = wanted.map((decision) => seenInProgram(decision, workloads, inspected.site.deviceKey));
  const better = wanted.map((decision, i) => seen[i] ?? decision);
  const set = injectedSet(better, planCompile(program, better, surroundings).injection.route);
  const attempts = 1 + (memory?.open?.set === set ? memory.open.attempts : 0);
  const lastTriedAt = new Date().toISOString();
  const { open } = judgement;
  const note = {
    leftOut: [...leftOut.values()],
    verified: open === null ? set : null,
    programWide: noteOn(program.variant, variant, memory?.programWide ?? null, budgetSeconds),
    open: open && { set, ...open, budgetSeconds, attempts, lastTriedAt },
  };
  if (!readonly) {
    programMemory.remember(store, identity, note);
    for (const decision of found)
      mark(decision, left.get(decision.tunable.key)!, store, inspected.site.deviceKey);
    const shown = seen.filter((one) => one !== null);
    for (const one of new Map(shown.map((one) => [one.tunable.key, one])).values()) record(one, store);
  }
  // The next build runs the configurations that replace the left-out ones.
  const isReplaced = found.some((one) => plainAlternative(one) !== null);
  const isAgain = note.open !== null && isWorthTrying(note.open, budgetSeconds);
  return { ...shippable(better, open, verdict), unproven: open, isFinal: !isAgain && !isReplaced };
}

/** Records evidence from a program. It holds for all programs with the same dispatch. */
function record({ record: key, configuration, evidence }: Seen, store: Store): void {
  const subject = key === null ? undefined : store.subject(key);
  if (subject === undefined) return;
  store.putRecord(subject, { configuration, evidence, ...writtenNow() });
}

/**
 * Marks a configuration for every program, so that the search goes on without it. A subject gets one mark for slowness: a configuration can be
 * slower because of the placement of operands, and then the next configuration is slower, too. A loss on this device marks no record of
 * another device.
 */
function mark(
  { record, configuration }: Injected,
  { mark: found }: LeftOutWorkload,
  store: Store,
  device: string,
): void {
  const subject = record === null ? undefined : store.subject(record);
  if (found === null || subject === undefined) return;
  if (found.kind === 'slower' && subject.device !== device) return;
  if (found.kind === 'slower' && store.marks(subject).some(({ kind }) => kind === 'slower')) return;
  store.addMarks(subject, [{ configuration, ...found, ...writtenNow() }]);
}
