// Verifies decisions in the program: the first build that injects something runs the program, stock against tuned. Configurations that make
// the program slower or wrong are left out of this build and of all later builds.
import { configurationText } from '../backend/index.ts';
import { isInjected, type Decision } from '../decision/decision.ts';
import { ledger } from '../plan/ledger.ts';
import { planCompile, type Plan } from '../plan/route.ts';
import { shippable } from '../plan/unproven.ts';
import { notVerified, type ProgramVerdict } from '../program/verdict.ts';
import { whyNotRun } from './limits.ts';
import type { Confirmed } from './program-rounds.ts';
import type { Judged, RunMeans } from './program-verdict.ts';
import { withVariant } from './variants/data-tiling.ts';
import {
  injectedSet,
  inProgram,
  isWorthTrying,
  programMemory,
  type KnownProgram,
  type ProgramMemory,
} from './variants/memory.ts';
import { PATIENCE_SECONDS, takeTurn } from '../site/turn.ts';
import type { Store } from '../store/store.ts';
import { messageOf, tell } from '../system/tell.ts';
import { because, type Reason } from '../system/reason.ts';

/** The decisions to inject. */
export interface VerifiedDecisions extends Judged {
  /** Seconds of running the program and of waiting for the measuring lock. */
  readonly seconds: number;
}

/** Results of tuning in this build. */
export interface TuningState {
  /** Configurations that the tuned program ran with; null if it did not run. */
  readonly confirmed: Confirmed | null;
  /** The rest of the budget. */
  readonly secondsLeft: number;
}

/**
 * Verifies the decisions about a program by running it. The program does not run if an earlier build has verified the decisions, or if the
 * budget is too small. Never rejects.
 * @param whyNot why nothing is measured; null if measuring is allowed
 */
export async function verifiedDecisions(
  program: KnownProgram,
  { injection: { route }, identity }: Pick<Plan, 'injection' | 'identity'>,
  whyNot: Reason | null,
  { store, surroundings, kept }: Omit<RunMeans, 'store'> & { readonly store: Store | null },
  { confirmed, secondsLeft }: TuningState = { confirmed: null, secondsLeft: Infinity },
): Promise<VerifiedDecisions> {
  const { decisions, memory } = program;
  const { settings, cacheDirectory } = surroundings;
  const { budgetSeconds } = settings;
  const set = injectedSet(decisions, route);
  const isVerified = memory?.verified === set;
  const open = memory?.open?.set === set ? memory.open : null;
  const whyUnproven = isVerified || route === 'none' ? null : open === null ? NOT_RUN : whyOpen(open);
  const unchanged: VerifiedDecisions = {
    ...{ decisions, verdict: null, seconds: 0, isFinal: true },
    unproven: whyUnproven,
  };
  /** The decisions that ship without a run. Every build leaves out the same, with any budget. */
  const withoutRun = (verdict: ProgramVerdict | null = null): VerifiedDecisions => ({
    ...unchanged,
    ...shippable(decisions, whyUnproven, verdict),
  });
  /** Without an injection there is nothing to verify. */
  const unverified = (why: Reason) => (route === 'none' ? null : notVerified(why));
  if (whyNot !== null || store === null) return withoutRun();
  const hasVariant = program.variant.size > 0;
  if (!hasVariant && (route === 'none' || isVerified)) return unchanged;
  // The build does not compile a broken plan.
  if (ledger.recall(cacheDirectory, identity)?.state === 'broken') return unchanged;
  const why =
    open !== null && !isWorthTrying(open, budgetSeconds)
      ? whyOpen(open)
      : whyNotRun(program.inspected.input, budgetSeconds);
  if (why !== null) return withoutRun(unverified(why));

  const isTried = confirmed?.variant.isOpen === false;
  const isShort = secondsLeft < VARIANT_SHARE * budgetSeconds;
  if (confirmed !== null && isConfirmed(decisions, confirmed) && (!hasVariant || isTried || isShort)) {
    const { concludeConfirmed } = await import('./program-verdict.ts');
    return { ...concludeConfirmed(program, confirmed, { store, surroundings }), seconds: 0 };
  }
  // A later build has the time.
  if (route === 'none' && isShort) return { ...unchanged, isFinal: false };

  const begun = performance.now();
  const seconds = () => (performance.now() - begun) / 1000;
  try {
    const judged = await judgeInTurn(program, { store, surroundings, kept }, isShort);
    return { ...judged, seconds: seconds() };
  } catch (error) {
    // For example a full disk, or the end of the caller.
    tell(`the program was not run: ${messageOf(error)}`, settings.log);
    const failure = because('internal-error', messageOf(error));
    return { ...withoutRun(unverified(failure)), seconds: seconds(), isFinal: false };
  }
}

const NOT_RUN = because('not-run');
const NO_TURN = because('lock-busy', 'another process measured on this machine');

/** Earlier versions noted no code. */
const whyOpen = ({ code = 'not-run', reason }: NonNullable<ProgramMemory['open']>): Reason =>
  because(code, reason);

/** Least share of the budget to try a variant of the decisions. */
const VARIANT_SHARE = 0.25;

/** Whether the tuned program has run with every injected configuration. Its dispatches do not depend on each other. */
const isConfirmed = (decisions: readonly Decision[], { configurations }: Confirmed): boolean =>
  decisions
    .filter(isInjected)
    .every((one) => configurations.get(one.tunable.key) === configurationText(one.configuration));

/** Judges the program with the measuring lock. */
async function judgeInTurn(program: KnownProgram, means: RunMeans, isShort: boolean): Promise<Judged> {
  const { store, surroundings } = means;
  const { settings } = surroundings;
  /** The program with the verdict that another build may have reached meanwhile. */
  const recall = () => {
    const memory = programMemory.recall(store, program.identity);
    const decisions = inProgram(program.decisions, memory, new Map(), settings.inject);
    const { route } = planCompile(program, decisions, surroundings).injection;
    const now = withVariant({ ...program, memory, decisions }, settings);
    const isRight = route === 'none' || memory?.verified === injectedSet(decisions, route);
    return { ...now, route, isKnown: isRight && now.variant.size === 0 };
  };
  const patience = Math.min(PATIENCE_SECONDS, settings.budgetSeconds);
  const measuring = { ...surroundings, device: program.inspected.site.device };
  using turn = await takeTurn(measuring, patience, () => !recall().isKnown);
  const now = recall();
  if (now.isKnown) return { decisions: now.decisions, verdict: null, unproven: null, isFinal: true };
  if (turn === null) {
    const verdict = now.route === 'none' ? null : notVerified(NO_TURN);
    return { ...shippable(now.decisions, NO_TURN, verdict), unproven: NO_TURN, isFinal: false };
  }
  const { judgeProgram } = await import('./program-verdict.ts');
  return await judgeProgram(now, means, isShort);
}
