// The program's verdict: the first build that injects something runs the program, stock against tuned. Configurations that make it slower
// or wrong are left out of this build and of all later ones.
import { configurationText } from '../backend/index.ts';
import { isInjected, type Decision } from '../decision/decision.ts';
import type { Injection } from '../inject/plan.ts';
import type { KeptModules } from '../plan/kept-modules.ts';
import { planIdentity, recallPlan } from '../plan/ledger.ts';
import { planCompile } from '../plan/route.ts';
import { shippable } from '../plan/unproven.ts';
import { notVerified, type ProgramVerdict } from '../program/verdict.ts';
import { limitsWithin, MOST_ATTEMPTS, whyNotRun } from '../running/limits.ts';
import { injectedSet, inProgram, programMemory, type ProgramMemory } from '../running/program-memory.ts';
import { offerTo } from '../running/program-offer.ts';
import type { Confirmed } from '../running/program-rounds.ts';
import type { Judged, KnownProgram } from '../running/program-verdict.ts';
import type { Surroundings } from '../settings/surroundings.ts';
import { PATIENCE_SECONDS, takeTurn } from '../site/turn.ts';
import type { Store } from '../store/store.ts';
import { messageOf, tell } from '../system/tell.ts';
import { isWorthAnotherTry } from '../tuning/undecided.ts';
import { because, type Reason } from '../system/reason.ts';

/** The decisions to inject. */
export interface LastWord extends Judged {
  /** Seconds that it took, and that were waited for a turn. */
  readonly seconds: number;
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
  whyNot: Reason | null,
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
  const unverified = (why: Reason) => (route === 'none' ? null : notVerified(why));
  if (open !== null && isInVain(open, settings.budgetSeconds))
    return { ...silent, ...shippable(decisions, whyOpen(open), unverified(whyOpen(open))) };
  const why = whyNotRun(program.inspected.input, settings.budgetSeconds);
  if (why !== null) return unasked(unverified(why));

  const isTried = confirmed?.programWide.isOpen === false;
  const isShort = secondsLeft < OFFER_SHARE * settings.budgetSeconds;
  if (confirmed !== null && isConfirmed(decisions, confirmed) && (!isOffered || isTried || isShort)) {
    const judgement = { kept: [...confirmed.configurations.keys()], leftOut: [], open: null };
    const found = { judgement, workloads: [], programWide: confirmed.programWide };
    const { conclude } = await import('../running/program-verdict.ts');
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
    return { ...unasked(unverified(because('internal-error', messageOf(error)))), seconds, settled: false };
  }
}

const NOT_RUN = because('not-run');
const NO_TURN = because('lock-busy', 'another process measured on this machine');

/** Versions before the codes noted the text alone. */
const whyOpen = ({ code = 'not-run', reason }: NonNullable<ProgramMemory['open']>): Reason =>
  because(code, reason);

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
): Promise<Judged> {
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
    const { judgeProgram } = await import('../running/program-verdict.ts');
    return await judgeProgram(now, store, surroundings, kept, limits);
  } finally {
    turn?.release();
  }
}
