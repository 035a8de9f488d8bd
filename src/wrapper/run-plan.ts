// Runs a plan by the ledger: a broken plan as the user's own command, a known output from the cache, a proven plan in our place, and any
// other plan as a child whose output is held back until it is whole.
import { isInjected } from '../decision/decision.ts';
import type { Surroundings } from '../settings/surroundings.ts';
import { exitLike, runCompiler } from '../system/run.ts';
import { originalCompile } from '../plan/injected-command.ts';
import { notePlan, planIdentity, recallPlan, type Landed, type LedgerEntry } from '../plan/ledger.ts';
import { cachedOutput } from './cached-output.ts';
import { allLanded, NOT_APPLIED, SUCCESS, type Plan, type PlanHooks, type Run } from './ending.ts';
import { heldOutput } from './deliver.ts';
import { noteDelivered, runInPlace } from './in-place.ts';
import { show, withColours } from './messages.ts';
import { LOST, mayLook, refuse } from './required.ts';
import { because } from '../system/reason.ts';

/**
 * Runs a plan. Never returns.
 * @param workSeconds limit of a new plan; the default follows from the survey of the input
 */
export async function runPlan(
  plan: Plan,
  hooks: PlanHooks,
  surroundings: Surroundings,
  workSeconds?: number,
): Promise<never> {
  const run = await runOf(plan, hooks, surroundings);
  const { entry, isInjecting } = run;
  const { settings } = surroundings;
  if (entry?.state === 'broken') return runUntuned(run, entry);
  if (settings.require === 'landed' && isInjecting && entry?.state === 'lost') return refuse(LOST, settings);
  /** Whether this build has to look for the configurations: a plan of a build with budget 0 has no proof yet. */
  const isUnseen = isInjecting && (entry === null || entry.state === 'compiled') && mayLook(settings);
  const isProven = entry !== null && !isUnseen;
  if (isProven || !isInjecting) deliverKnown(run);
  if (isProven) return runProven(run);
  // The user's own command is held back only to keep its output.
  const mayHold = plan.injected !== null || (settings.outputs && run.compile.stdin === undefined);
  const held = mayHold ? heldOutput(plan.command, surroundings.cacheDirectory) : null;
  if (plan.injected === null && held === null) return runProven(run);
  // Nothing of this is loaded on a hit.
  const { firstRun } = await import('./first-run.ts');
  return firstRun(run, held, workSeconds);
}

async function runOf(plan: Plan, hooks: PlanHooks, surroundings: Surroundings): Promise<Run> {
  const { command, input, decisions, injected } = plan;
  const compile = injected ?? { ...originalCompile(command, input), mapMessages: null, files: [] };
  const { argv, stdin, mapMessages, files } = compile;
  const identity =
    injected === null
      ? planIdentity(command, input.digest, [], 'none')
      : planIdentity(command, input.digest, decisions, injected.route);
  const end = (landed: Landed | null, output: string | null) => {
    // Only this program can edit messages again, or read an input from a pipe.
    const isRepeatable = stdin === undefined && (mapMessages === null || output !== null);
    hooks.onEnd({
      ...{ applied: allLanded(landed), landed, argv, fallback: null, output },
      ...{ files: isRepeatable ? files : null, isEdited: mapMessages !== null },
    });
  };
  return {
    ...{ plan, hooks, surroundings, compile, identity, end },
    entry: injected && recallPlan(surroundings.cacheDirectory, identity),
    isInjecting: injected !== null && decisions.some(isInjected),
    cached: await cachedOutput(command, input, [identity], surroundings),
  };
}

/** The user's own command in place of a plan that has broken this compile before. */
function runUntuned({ plan, hooks, surroundings }: Run, { reason }: LedgerEntry): Promise<never> {
  const { command, input } = plan;
  const fallback = because('broke-before', `these configurations broke this compile before: ${reason}`);
  hooks.onEnd({ ...NOT_APPLIED, argv: command.argv, fallback });
  if (!hooks.mayFallBack) return refuse(fallback.reason, surroundings.settings);
  const { argv, stdin } = originalCompile(command, input);
  return runInPlace(command.compiler.executable, argv, stdin, surroundings.env);
}

/** Delivers an output that is in the output cache or was compiled by this build, and ends this process. Returns if there is none. */
function deliverKnown({ plan, surroundings, identity, entry, cached, end }: Run): void {
  const delivered = cached.deliver(plan.module);
  if (delivered === null) return;
  noteDelivered();
  if (plan.injected !== null) notePlan(surroundings.cacheDirectory, identity, { state: 'compiled' });
  end(entry?.landed ?? null, delivered.output);
  exitLike(SUCCESS);
}

/** A compile that is known to succeed, or the user's own. */
async function runProven({ plan, surroundings, compile, entry, end }: Run): Promise<never> {
  const { executable } = plan.command.compiler;
  const { argv, stdin, mapMessages } = compile;
  const { env } = surroundings;
  end(entry?.landed ?? null, null);
  if (mapMessages === null) return runInPlace(executable, argv, stdin, env);
  const result = await runCompiler(executable, withColours(argv, env), { env, stdin, capture: true });
  show(result, mapMessages);
  return exitLike(result);
}
