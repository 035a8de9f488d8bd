// The program's verdict: the first build that injects something runs the program, stock against tuned. Configurations that make it slower
// or wrong are left out of this build and of all later ones.
import type { Command } from '../compiler/command.ts';
import { isInjected, leaveOut, plainBeside, type Decision, type Injected } from '../decision/decision.ts';
import { withProgramWide, type ProgramWide } from '../decision/program-wide.ts';
import type { Injection } from '../inject/plan.ts';
import type { LeftOutWorkload } from '../program/judge.ts';
import { seenInProgram, type Seen } from '../program/seen.ts';
import { notVerified, type ProgramVerdict } from '../program/verdict.ts';
import type { Surroundings } from '../settings/surroundings.ts';
import { BUSY, PATIENCE_SECONDS, takeTurn } from '../site/turn.ts';
import { userName } from '../store/author.ts';
import type { Store } from '../store/store.ts';
import { configurationText } from '../backend/index.ts';
import { messageOf, tell } from '../system/tell.ts';
import { isWorthAnotherTry } from '../tuning/undecided.ts';
import type { Inspected } from '../plan/inspected.ts';
import { KeptModules } from '../plan/kept-modules.ts';
import { planCompile } from '../plan/route.ts';
import { planIdentity, recallPlan } from '../plan/ledger.ts';
import { offerTo, triedOf } from '../running/program-offer.ts';
import type { Confirmed } from '../running/program-rounds.ts';
import { injectedSet, inProgram, programMemory, type ProgramMemory } from '../running/program-memory.ts';
import { shippable } from '../plan/unproven.ts';
import { limitsWithin, whyNotRun, type Limits } from '../running/limits.ts';
import type { Verification } from '../running/verify-program.ts';

/** So many builds try to get a missing verdict; after that only a build with more time. */
const MOST_ATTEMPTS = 3;

export interface LastWord {
  /** The decisions to inject. */
  readonly decisions: readonly Decision[];
  /** Null where nothing was to be found out. */
  readonly verdict: ProgramVerdict | null;
  /** Seconds that it took, and that were waited for a turn. */
  readonly seconds: number;
  /** Whether the same would be injected again, without another try. */
  readonly settled: boolean;
}

/** A program, as far as it is known. */
export interface KnownProgram {
  readonly command: Command;
  readonly inspected: Inspected;
  readonly decisions: readonly Decision[];
  /** Its identity, see `programIdentity`. */
  readonly identity: string;
  readonly memory: ProgramMemory | null;
}

/**
 * Verifies the decisions about a program by running it, if no build has done so and the budget allows it. Never rejects.
 * @param whyNot why nothing is measured; null if measuring is allowed
 * @param kept modules of this build
 * @param seen configurations that the program ran with while it was tuned
 */
export async function lastWord(
  program: KnownProgram,
  { route }: Injection,
  whyNot: string | null,
  store: Store | null,
  surroundings: Surroundings,
  kept: KeptModules,
  { confirmed, secondsLeft }: SeenBefore = { confirmed: null, secondsLeft: Infinity },
): Promise<LastWord> {
  const { decisions, memory } = program;
  const { settings, cacheDirectory } = surroundings;
  const silent: LastWord = { decisions, verdict: null, seconds: 0, settled: true };
  const isVerified = () => memory?.verified === injectedSet(decisions, route);
  const unasked = (verdict: ProgramVerdict | null = null): LastWord =>
    isVerified() ? { ...silent, verdict } : { ...silent, ...shippable(decisions, NOT_RUN, verdict) };
  if (whyNot !== null || store === null) return unasked();
  const offer = offerTo(program, settings);
  const isOffered = offer.size > 0;
  if (route === 'none' && !isOffered) return silent;
  const set = injectedSet(decisions, route);
  if (isVerified() && !isOffered) return silent;
  const identity = planIdentity(program.command, program.inspected.input.digest, decisions, route);
  // It is not compiled with them either.
  if (recallPlan(cacheDirectory, identity)?.state === 'broken') return silent;
  const open = memory?.open?.set === set ? memory.open : null;
  /** There is nothing to verify where nothing is injected. */
  const unverified = (reason: string) => (route === 'none' ? null : notVerified(reason));
  if (open !== null && isInVain(open, settings.budgetSeconds))
    return { ...silent, ...shippable(decisions, open.reason, unverified(open.reason)) };
  const reason = whyNotRun(program.inspected.input, settings.budgetSeconds);
  if (reason !== null) return unasked(unverified(reason));

  const isTried = confirmed?.programWide.isOpen === false;
  const isShort = secondsLeft < OFFER_SHARE * settings.budgetSeconds;
  if (confirmed !== null && isConfirmed(decisions, confirmed) && (!isOffered || isTried || isShort)) {
    const judgement = { kept: [...confirmed.configurations.keys()], leftOut: [], open: null };
    const found = { judgement, workloads: [], programWide: confirmed.programWide };
    const concluded = conclude(program, offer, found, store, surroundings);
    return { ...concluded, verdict: confirmed.verdict, seconds: 0 };
  }

  // A build that has the time tries it.
  if (route === 'none' && isShort) return { ...silent, settled: false };

  const begun = performance.now();
  try {
    const word = await askInTurn(program, store, surroundings, kept);
    return { ...word, seconds: (performance.now() - begun) / 1000 };
  } catch (error) {
    // A full disk, say, or the caller has gone.
    tell(`the program was not run: ${messageOf(error)}`, settings.log);
    const seconds = (performance.now() - begun) / 1000;
    return { ...unasked(unverified(messageOf(error))), seconds, settled: false };
  }
}

const NOT_RUN = 'the program was not run';
const NO_TURN = 'another process measured on this machine';

/** An offer to all operations at once is tried if so much of the budget is left. */
const OFFER_SHARE = 0.25;

/** Configurations that the program ran with before, and the rest of the budget. */
export interface SeenBefore {
  readonly confirmed: Confirmed | null;
  readonly secondsLeft: number;
}

/** Whether nothing is injected that the program was not seen to be right and faster with. Its dispatches do not depend on each other. */
const isConfirmed = (decisions: readonly Decision[], { configurations }: Confirmed): boolean =>
  decisions
    .filter(isInjected)
    .every((one) => configurations.get(one.tunable.key) === configurationText(one.configuration));

/** Whether so many builds could not find it out in this time that another one cannot either. */
const isInVain = (open: NonNullable<ProgramMemory['open']>, seconds: number): boolean =>
  open.attempts >= MOST_ATTEMPTS && !isWorthAnotherTry({ ...open, workload: '' }, seconds, []);

async function askInTurn(
  program: KnownProgram,
  store: Store,
  surroundings: Surroundings,
  kept: KeptModules,
): Promise<Omit<LastWord, 'seconds'>> {
  const { budgetSeconds } = surroundings.settings;
  /** The verdict that another build may have found meanwhile. */
  const recall = () => {
    const memory = programMemory.recall(store, program.identity);
    const decisions = inProgram(program.decisions, memory, new Map(), surroundings.settings.inject);
    const { route } = planCompile(decisions, program.inspected, program.command, surroundings);
    const now = { ...program, memory, decisions, route };
    const isRight = route === 'none' || memory?.verified === injectedSet(decisions, route);
    return { ...now, isKnown: isRight && offerTo(now, surroundings.settings).size === 0 };
  };
  const patience = Math.min(PATIENCE_SECONDS, budgetSeconds);
  const turn = await takeTurn(surroundings, patience, () => !recall().isKnown);
  try {
    const now = recall();
    if (now.isKnown) return { decisions: now.decisions, verdict: null, settled: true };
    if (turn === null)
      return {
        ...shippable(now.decisions, NO_TURN, now.route === 'none' ? null : notVerified(NO_TURN)),
        settled: false,
      };
    const limits = limitsWithin(budgetSeconds, program.command.rewriting !== undefined);
    return await ask(now, store, surroundings, kept, limits);
  } finally {
    turn?.release();
  }
}

/** Runs the program, remembers the verdict, and marks configurations. */
async function ask(
  program: KnownProgram,
  store: Store,
  surroundings: Surroundings,
  kept: KeptModules,
  limits: Limits,
): Promise<Omit<LastWord, 'seconds'>> {
  // Nothing of this is loaded on a hit.
  const [{ verifyTuned, NOTHING_CHOSEN }, { NotVerifiedError }, { storyOf }, { interruptible }] =
    await Promise.all([
      import('../running/verify-program.ts'),
      import('../running/callable.ts'),
      import('../report/story.ts'),
      import('../running/interruptible.ts'),
    ]);
  const { command, inspected, decisions } = program;
  const offer = offerTo(program, surroundings.settings);
  const story = storyOf(null);
  story.runProgram(limits.runSeconds);
  try {
    const verification = await interruptible(
      (signal) => verifyTuned(command, inspected, decisions, offer, surroundings, kept, limits, signal),
      () => {
        story.clear();
        store.close();
      },
    );
    const concluded = conclude(program, offer, verification, store, surroundings);
    const { judgement, verdict } = verification;
    const word = { ...concluded, ...shippable(concluded.decisions, judgement.open, verdict) };
    story.endProgram(word.verdict ?? verdict);
    return word;
  } catch (error) {
    if (!(error instanceof NotVerifiedError)) throw error;
    const verdict = notVerified(error.message);
    if (!error.isLate) return { ...shippable(decisions, error.message, verdict), settled: true };
    const judgement = { kept: [], leftOut: [], open: error.message };
    const nothing = { judgement, workloads: [], programWide: { ...NOTHING_CHOSEN, isOpen: true } };
    const { decisions: left, settled } = conclude(program, offer, nothing, store, surroundings);
    return { ...shippable(left, error.message, verdict), settled };
  } finally {
    story.clear();
  }
}

/**
 * The same on demand: without limits, and regardless of an earlier verdict, which the new one replaces.
 * @throws UserError when the program cannot be compiled, or there is no turn or nothing to run it with
 */
export async function verifyOnDemand(
  program: Omit<KnownProgram, 'memory'>,
  store: Store,
  surroundings: Surroundings,
): Promise<ProgramVerdict> {
  const [{ verifyTuned }, { NotVerifiedError }] = await Promise.all([
    import('../running/verify-program.ts'),
    import('../running/callable.ts'),
  ]);
  const turn = await takeTurn(surroundings, surroundings.settings.budgetSeconds);
  if (turn === null) throw new NotVerifiedError(`the program was not verified: ${BUSY}`);
  const kept = new KeptModules();
  try {
    const { command, inspected, decisions } = program;
    const limits = { compileSeconds: Infinity, runSeconds: Infinity, inputBytes: Infinity };
    const signal = new AbortController().signal;
    const anew = { ...program, memory: null };
    const offer = offerTo(anew, surroundings.settings);
    const verification = await verifyTuned(
      command,
      inspected,
      decisions,
      offer,
      surroundings,
      kept,
      limits,
      signal,
    );
    conclude(anew, offer, verification, store, surroundings);
    return verification.verdict;
  } finally {
    kept.discard();
    turn.release();
  }
}

/** Remembers the verdict on a program, and gives the decisions to inject. */
function conclude(
  { command, inspected, decisions, identity, memory }: KnownProgram,
  offer: ProgramWide,
  { judgement, workloads, programWide }: Omit<Verification, 'verdict'>,
  store: Store,
  surroundings: Surroundings,
): Pick<LastWord, 'decisions' | 'settled'> {
  const { settings } = surroundings;
  const left = new Map(judgement.leftOut.map((one) => [one.key, one]));
  const kept = leaveOut(decisions, (key) => left.get(key)?.reason ?? null);
  const found = decisions.filter(isInjected).filter(({ tunable }) => left.has(tunable.key));
  const leftOut = new Map(
    (memory?.leftOut ?? []).map((one) => [`${one.workload} ${one.configuration}`, one]),
  );
  for (const { tunable, configuration: own } of found) {
    const { key: workload, reason } = left.get(tunable.key)!;
    const configuration = configurationText(own);
    leftOut.set(`${workload} ${configuration}`, { workload, configuration, reason });
  }
  const wanted = withProgramWide(kept, programWide.chosen, programWide.reason);
  const seen = wanted.map((decision) => seenInProgram(decision, workloads, inspected.site.deviceKey));
  const better = wanted.map((decision, i) => seen[i] ?? decision);
  const set = injectedSet(better, planCompile(better, inspected, command, surroundings).route);
  const attempts = 1 + (memory?.open?.set === set ? memory.open.attempts : 0);
  const { budgetSeconds } = settings;
  const lastTriedAt = new Date().toISOString();
  const { open: reason } = judgement;
  const note: ProgramMemory = {
    leftOut: [...leftOut.values()],
    verified: reason === null ? set : null,
    programWide: triedOf(offer, programWide, memory?.programWide ?? null, settings.budgetSeconds),
    open: reason === null ? null : { set, reason, budgetSeconds, attempts, lastTriedAt },
  };
  if (!settings.readonly) {
    programMemory.remember(store, identity, note);
    for (const decision of found)
      mark(decision, left.get(decision.tunable.key)!, store, inspected.site.deviceKey);
    const shown = seen.filter((one) => one !== null);
    for (const one of new Map(shown.map((one) => [one.tunable.key, one])).values()) record(one, store);
  }
  // A configuration that replaces one that was left out did not run yet: the next build runs it.
  const isReplaced = found.some((one) => plainBeside(one) !== null);
  return { decisions: better, settled: (reason === null || attempts >= MOST_ATTEMPTS) && !isReplaced };
}

/** Records evidence from a program, for all programs with the same dispatch. */
function record({ record: key, configuration, evidence }: Seen, store: Store): void {
  const subject = key === null ? undefined : store.subject(key);
  if (subject === undefined) return;
  const written = { createdAt: new Date().toISOString(), createdBy: userName() };
  store.putRecord(subject, { configuration, evidence, ...written });
}

/**
 * Marks a configuration for every program. The search goes on without it, but only once: a configuration can be slower because of the
 * placement of operands, and then the next one would be slower, too. A loss on this device does not count against the record of another
 * device.
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
  const written = { createdAt: new Date().toISOString(), createdBy: userName() };
  store.addMarks(subject, [{ configuration, ...found, ...written }]);
}
