// Finds the forms in which a program is fastest: first all preferred forms, then without the forms that are slower than the written
// operations.
import { isDispatchOf, isTunable } from '../input/operation.ts';
import { rewritableKey } from '../form/rewritable.ts';
import type { FormChoice } from '../form/choose.ts';
import { slowerForms } from '../form/slower.ts';
import { LEAST_RATIO } from '../program/slower.ts';
import { notVerified, type ProgramVerdict } from '../program/verdict.ts';
import { storyOf } from '../report/story.ts';
import type { Surroundings } from '../settings/surroundings.ts';
import { NotVerifiedError } from './callable.ts';
import { interruptible } from './interruptible.ts';
import type { KeptModules } from '../plan/kept-modules.ts';
import { limitsWithin } from './limits.ts';
import { compileForms, FormsError, proveForms, type FormsProof } from './prove-forms.ts';
import { rewritten, surveyed, type FormedProgram } from '../plan/rewritten.ts';
import { because, cacheUnwritable } from '../system/reason.ts';

/** The result of comparing forms. */
export interface TriedForms {
  /** Null if the compiler does not reach code generation. */
  readonly program: FormedProgram | null;
  readonly choices: readonly FormChoice[];
  readonly verdict: ProgramVerdict;
  /** Whether the compiler rejects the forms. */
  readonly isRefused: boolean;
  readonly compileSeconds: number;
}

/** Share of the budget for runs of both programs. */
const RUN_SHARE = 0.1;

/** A second variant is compiled only if the first took at most this share of the budget. */
const SECOND_SHARE = 0.5;

/** Compiles variants during their survey, then runs them. The caller holds the measuring lock. */
export async function tryForms(
  choices: readonly FormChoice[],
  { command: written, inspected }: FormedProgram,
  surroundings: Surroundings,
  kept: KeptModules,
): Promise<TriedForms> {
  const { budgetSeconds } = surroundings.settings;
  const limits = { ...limitsWithin(budgetSeconds, true), runSeconds: RUN_SHARE * budgetSeconds };
  const story = storyOf(null);
  story.tryForms();

  const tryThese = async (own: readonly FormChoice[], signal: AbortSignal) => {
    const formed = await rewritten(written, own, surroundings);
    const underWay = compileForms(formed, written, inspected, surroundings, kept, limits);
    const nothing = { choices: own, program: null, isRefused: false, compileSeconds: 0, proof: null };
    if (underWay === null)
      return { ...nothing, verdict: notVerified(cacheUnwritable(surroundings.cacheDirectory)) };
    const means = { configured: () => underWay.configured, hasTurn: true };
    const [program, { seconds: compileSeconds }] = await Promise.all([
      surveyed(formed, inspected, surroundings, means),
      underWay.compiled,
    ]);
    const tried = { ...nothing, program, compileSeconds };
    if (program === null) return { ...tried, verdict: notVerified(because('not-compiled')) };
    try {
      const proof = await proveForms(program, written, underWay, surroundings, limits, signal);
      return { ...tried, proof, verdict: proof.verdict };
    } catch (error) {
      const isRefused = error instanceof FormsError;
      if (!isRefused && !(error instanceof NotVerifiedError)) throw error;
      return {
        ...tried,
        isRefused,
        verdict: notVerified(isRefused ? because('compile-failed', error.message) : error.why),
      };
    }
  };

  const work = async (signal: AbortSignal): Promise<TriedForms> => {
    const first = await tryThese(choices, signal);
    // A program that is slower in its forms is not tuned in them.
    const isBetter = leastRatio(first.verdict) >= LEAST_RATIO;
    const slower = slowerIn(first, isBetter);
    const rest = choices.filter(({ operation }) => !slower.has(rewritableKey(operation)));
    const isWorthIt = slower.size > 0 && rest.length > 0;
    if (!isWorthIt || first.compileSeconds > SECOND_SHARE * budgetSeconds) return first;
    kept.forgetStock();
    const second = await tryThese(rest, signal);
    const compileSeconds = first.compileSeconds + second.compileSeconds;
    if (leastRatio(second.verdict) > leastRatio(first.verdict)) return { ...second, compileSeconds };
    // The next untuned module is that of the first program.
    kept.forgetStock();
    return { ...first, compileSeconds };
  };
  try {
    const tried = await interruptible(work, () => {
      story.clear();
      kept.discard();
    });
    story.endForms(tried.verdict);
    return tried;
  } finally {
    story.clear();
  }
}

/** Keys of operations whose form is slower than the written operation. @param isTuned whether the forms are tuned later */
function slowerIn(
  {
    choices,
    program,
    proof,
  }: Pick<TriedForms, 'choices' | 'program'> & { readonly proof: FormsProof | null },
  isTuned: boolean,
): ReadonlySet<string> {
  if (program === null || proof === null) return new Set();
  const operations = program.inspected.input.operations.filter(isTunable);
  // The locations of rewritten operations contain the key of the written operation.
  const isOf = (key: string, dispatch: string) =>
    operations.some(
      (one) => one.place.location?.startsWith(`${key} as `) === true && isDispatchOf(one, dispatch),
    );
  return slowerForms(choices, proof.written, proof.formed, isOf, isTuned);
}

/** The smallest ratio of all functions; 0 if a function was not timed or has wrong results. */
const leastRatio = ({ functions }: ProgramVerdict): number =>
  Math.min(...functions.map(({ equal, timing }) => (equal === true ? (timing?.ratio ?? 0) : 0)), Infinity);
