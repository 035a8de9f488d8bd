// Verifies a whole program, stock against tuned: equal results, and no loss of speed.
import { needsOf } from '../backend/index.ts';
import { withConfigurations, type Decision } from '../decision/decision.ts';
import { assess, gainOver, judgementWith, LEAST_ADVANTAGE, ratioOf } from '../program/assess.ts';
import type { Judgement } from '../program/judge.ts';
import { timeBudget } from '../program/time-budget.ts';
import { programRuns } from '../program/runs.ts';
import { isComparedWith, isEitherFaster } from '../program/answered.ts';
import type { ComparedWorkload } from '../program/slower.ts';
import { notVerified, type ProgramVerdict } from '../program/verdict.ts';
import { callableOf, contestsOf, measuringTools, type MeasuredProgram } from './callable.ts';
import { planCompile } from '../plan/route.ts';
import { doesNotCompile, keysOf, programBuilds, stockOf } from './program-builds.ts';
import { NO_REASON, because } from '../system/reason.ts';
import { verdictOn } from './variants/data-tiling.ts';
import type { KnownProgram } from './variants/memory.ts';
import { NO_VERDICT, type VariantVerdict } from './variants/variant.ts';

/** A program to compile and run, with decisions and a variant of them. */
export interface DecidedProgram extends MeasuredProgram, Pick<KnownProgram, 'decisions' | 'variant'> {}

/** The judgement on a program, and the verdict that users see. */
export interface Verification {
  readonly judgement: Judgement;
  readonly verdict: ProgramVerdict;
  /** Times of the workloads' dispatches. */
  readonly workloads: readonly ComparedWorkload[];
  readonly variant: VariantVerdict;
}

/**
 * Compiles a program with and without its decisions, and runs both. Finds the configurations to leave out, and whether the variant is faster.
 * The caller holds the measuring lock.
 * @throws NotVerifiedError when one of both programs does not compile in the time, or the runtime's tools are missing
 * @throws StoppedError when the signal fires
 */
export async function verifyTuned(program: DecidedProgram): Promise<Verification> {
  const { surroundings, limits, decisions, variant } = program;
  const tools = measuringTools(program);
  const budget = timeBudget(limits.compileSeconds);
  const builds = programBuilds(program, decisions, budget);
  const varied = withConfigurations(decisions, variant);
  const variedBuilds = programBuilds(program, varied, budget, 'all-tuned.vmfb');
  const callable = await callableOf(program, () => stockOf(program, builds));
  const { called, skipped } = callable;
  const { injection } = planCompile(program, decisions, surroundings);
  const keys = keysOf(decisions);
  const isInjecting = injection.route !== 'none';
  const isVaried = variant.size > 0;
  if ((isInjecting || isVaried) && called.length === 0) {
    const isEmpty = skipped.length === 0;
    const why = because('nothing-callable', isEmpty ? 'no public function was found in it' : undefined);
    return {
      verdict: { ...notVerified(why), skipped, injected: isInjecting },
      judgement: { kept: keys, leftOut: [], open: isInjecting ? why : null },
      workloads: [],
      variant: NO_VERDICT,
    };
  }
  // At once, because a compiler seldom uses more than one core. All end before the first failure counts.
  const tuned = Promise.all([
    isInjecting ? builds.tuned(keys) : null,
    isInjecting && isVaried ? variedBuilds.tuned(keysOf(varied)) : null,
  ]);
  const both = [stockOf(program, builds), tuned] as const;
  await Promise.allSettled(both);
  const [stock, [whole]] = await Promise.all(both);
  // A configuration may need too many resources in a fused dispatch. The search below finds it.
  if (whole !== null && 'problem' in whole && whole.isLate) throw doesNotCompile('the tuned program', whole);

  const contests = isInjecting || isVaried ? await contestsOf(program, tools, callable, stock) : [];
  // The variant takes as much time again.
  const runSeconds = limits.runSeconds / (isInjecting && isVaried ? 2 : 1);
  const suspects = keysOf(decisions.filter(changesProgram));
  const own = await assess(
    isInjecting ? keys : [],
    // With one configuration no dispatch can be slower while the program is faster.
    programRuns(contests, builds.tuned, runSeconds, keys.length === 1 ? isEitherFaster : undefined),
    suspects,
  );
  let best = own;
  let onVariant = NO_VERDICT;
  if (isVaried) {
    const all = keysOf(varied);
    const isAnswered = all.length === 1 ? isComparedWith(LEAST_ADVANTAGE * ratioOf(own)) : undefined;
    const other = await assess(all, programRuns(contests, variedBuilds.tuned, runSeconds, isAnswered));
    const gain = gainOver(other, own);
    const { kept, open } = other.judgement;
    onVariant = verdictOn(new Map([...variant].filter(([key]) => kept.includes(key))), gain, open !== null);
    if (gain !== null) best = { ...other, judgement: judgementWith(variant, other.judgement, own.judgement) };
  }
  const { judgement, functions: compared, workloads } = best;
  const why =
    injection.route === 'none'
      ? { code: injection.code, reason: injection.reason }
      : because('worse-in-program', 'it is worse with each of its configurations');
  const injected = judgement.kept.length > 0;
  const leftOut = judgement.leftOut.map(({ key, reason }) => ({
    workload: key,
    ...because('worse-in-program', reason),
  }));
  const told = injected ? (judgement.open ?? NO_REASON) : why;
  const verdict = { functions: compared, skipped, leftOut, injected, ...told };
  return { verdict, judgement, workloads, variant: onVariant };
}

/** Whether a configuration changes more of the program than the dispatch of its operation. */
const changesProgram = ({ configuration }: Decision): boolean => needsOf(configuration) !== null;
