// Runs a program, stock against tuned, and notes the verdict in the database. Later builds leave out the configurations that make the program
// slower or wrong. Not loaded on a hit.
import { configurationText } from '../backend/index.ts';
import type { Command } from '../compiler/command.ts';
import {
  isInjected,
  leaveOut,
  plainAlternative,
  type Decision,
  type Injected,
} from '../decision/decision.ts';
import { withProgramWide, type ProgramWide } from '../decision/program-wide.ts';
import type { Inspected } from '../plan/inspected.ts';
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
import { NotVerifiedError } from './callable.ts';
import { interruptible } from './interruptible.ts';
import { limitsWithin, MOST_ATTEMPTS, type Limits } from './limits.ts';
import { injectedSet, programMemory, worse, type ProgramMemory } from './program-memory.ts';
import { offerTo, triedOf } from './program-offer.ts';
import type { Confirmed } from './program-rounds.ts';
import { NOTHING_CHOSEN, verifyTuned, type Verification } from './verify-program.ts';
import { because, type Reason } from '../system/reason.ts';

/** A program with its decisions and its verdict so far. */
export interface KnownProgram {
  readonly command: Command;
  readonly inspected: Inspected;
  readonly decisions: readonly Decision[];
  /** See `programIdentity`. */
  readonly identity: string;
  readonly memory: ProgramMemory | null;
}

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
 * @param isShort whether only a later build has the time for an offer to all operations at once
 */
export async function judgeProgram(
  program: KnownProgram,
  { store, surroundings, kept }: RunMeans,
  isShort: boolean,
): Promise<Judged> {
  const { command, inspected, decisions } = program;
  const { settings } = surroundings;
  const limits = limitsWithin(settings.budgetSeconds, command.rewriting !== undefined);
  const measured = { command, inspected, surroundings, kept, limits };
  const wholeOffer = offerTo(program, settings);
  const offer: ProgramWide = isShort ? new Map() : wholeOffer;
  const isPostponed = offer.size < wholeOffer.size;
  const terminal = terminalOf(null);
  terminal.runProgram(limits.runSeconds);
  try {
    const verification = await interruptible(
      terminal,
      (signal) => verifyTuned({ ...measured, signal }, decisions, offer),
      () => {
        store.close();
      },
    );
    const concluded = conclude(program, offer, verification, store, surroundings);
    const { judgement, verdict } = verification;
    const { open } = judgement;
    const shipped = { ...concluded, unproven: open, ...shippable(concluded.decisions, open, verdict) };
    const judged = { ...shipped, isFinal: shipped.isFinal && !isPostponed };
    terminal.endProgram(judged.verdict ?? verdict);
    return judged;
  } catch (error) {
    if (!(error instanceof NotVerifiedError)) throw error;
    const { why } = error;
    const verdict = notVerified(why);
    if (!error.isLate) return { ...shippable(decisions, why, verdict), unproven: why, isFinal: true };
    const judgement = { kept: [], leftOut: [], open: why };
    const nothing = { judgement, workloads: [], programWide: { ...NOTHING_CHOSEN, isOpen: true } };
    const { decisions: left, isFinal } = conclude(program, offer, nothing, store, surroundings);
    return { ...shippable(left, why, verdict), unproven: why, isFinal };
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
  asked: Omit<KnownProgram, 'memory'>,
  store: Store,
  surroundings: Surroundings,
): Promise<ProgramVerdict> {
  const measuring = { ...surroundings, device: asked.inspected.site.device };
  using turn = await takeTurn(measuring, surroundings.settings.budgetSeconds);
  if (turn === null)
    throw new NotVerifiedError(because('lock-busy', `the program was not verified: ${BUSY.reason}`));
  const kept = new KeptModules();
  try {
    const { command, inspected, decisions } = asked;
    const program = { ...asked, memory: null };
    const offer = offerTo(program, surroundings.settings);
    const { signal } = new AbortController();
    const measured = { command, inspected, surroundings, kept, limits: UNLIMITED, signal };
    const verification = await verifyTuned(measured, decisions, offer);
    conclude(program, offer, verification, store, surroundings);
    return verification.verdict;
  } finally {
    kept.discard();
  }
}

/** Notes the verdict that tuning has reached, and shows it on a terminal. */
export function concludeConfirmed(
  program: KnownProgram,
  offer: ProgramWide,
  { configurations, verdict, open, programWide }: Confirmed,
  store: Store,
  surroundings: Surroundings,
): Judged {
  terminalOf(null).endProgram(verdict);
  const judgement = { kept: [...configurations.keys()], leftOut: [], open };
  const found = { judgement, workloads: [], programWide };
  const concluded = conclude(program, offer, found, store, surroundings);
  return { ...concluded, unproven: open, ...shippable(concluded.decisions, open, verdict) };
}

/** Notes the verdict on a program. @returns the decisions to inject */
function conclude(
  program: KnownProgram,
  offer: ProgramWide,
  { judgement, workloads, programWide }: Omit<Verification, 'verdict'>,
  store: Store,
  surroundings: Surroundings,
): Pick<Judged, 'decisions' | 'isFinal'> {
  const { inspected, decisions, identity, memory } = program;
  const { settings } = surroundings;
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
  const wanted = withProgramWide(kept, programWide.chosen, programWide.reason);
  const seen = wanted.map((decision) => seenInProgram(decision, workloads, inspected.site.deviceKey));
  const better = wanted.map((decision, i) => seen[i] ?? decision);
  const set = injectedSet(better, planCompile(program, better, surroundings).injection.route);
  const attempts = 1 + (memory?.open?.set === set ? memory.open.attempts : 0);
  const { budgetSeconds } = settings;
  const lastTriedAt = new Date().toISOString();
  const { open } = judgement;
  const note: ProgramMemory = {
    leftOut: [...leftOut.values()],
    verified: open === null ? set : null,
    programWide: triedOf(offer, programWide, memory?.programWide ?? null, budgetSeconds),
    open: open && { set, ...open, budgetSeconds, attempts, lastTriedAt },
  };
  if (!settings.readonly) {
    programMemory.remember(store, identity, note);
    for (const decision of found)
      mark(decision, left.get(decision.tunable.key)!, store, inspected.site.deviceKey);
    const shown = seen.filter((one) => one !== null);
    for (const one of new Map(shown.map((one) => [one.tunable.key, one])).values()) record(one, store);
  }
  // The next build runs the configurations that replace the left-out ones.
  const isReplaced = found.some((one) => plainAlternative(one) !== null);
  return { decisions: better, isFinal: (open === null || attempts >= MOST_ATTEMPTS) && !isReplaced };
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
