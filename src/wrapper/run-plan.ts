// Runs a plan by the ledger: a broken plan as the user's own command, a cached output as a copy, and a settled plan in our place. Any other
// plan runs as a child, and so does the user's own command if its output goes into the cache.
import { isAsBefore } from '../compiler/command-files.ts';
import { isInjected } from '../decision/decision.ts';
import type { Surroundings } from '../settings/surroundings.ts';
import { exitLike } from '../system/run.ts';
import { originalCompile } from '../plan/injected-command.ts';
import { notePlan, planIdentity, recallPlan, type Landed, type LedgerEntry } from '../plan/ledger.ts';
import { cachedOutput } from './deliver.ts';
import { NOT_APPLIED, SUCCESS, type KnownRun, type Run } from './ending.ts';
import { noteDelivered, runInPlace } from './in-place.ts';
import { capture, show } from './capture.ts';
import { LOST, mayLook, refuse } from './required.ts';
import { because } from '../system/reason.ts';

/** Runs a plan, or the user's own command. Never returns. */
export async function runPlan(asked: Run, surroundings: Surroundings): Promise<never> {
  const run = await knownRun(asked, surroundings);
  const { entry, isInjecting, mustProve, injected, cached, compile } = run;
  const { settings } = surroundings;
  if (entry?.state === 'broken') return runUntuned(run, entry);
  if (mustProve && entry?.state === 'lost') return refuse(LOST, settings);
  /** Whether this build must prove that the configurations landed. A build with budget 0 leaves no proof. */
  const isUnseen = isInjecting && (entry === null || entry.state === 'compiled') && mayLook(settings);
  /** Whether nothing is left to find out about the plan: it compiles, and its configurations landed or are known to be lost. */
  const isSettled = entry !== null && !isUnseen;
  if (isSettled || !isInjecting) deliverKnown(run);
  // The user's own command runs as a child only to keep its output.
  const isKept = injected === null && cached.isPossible && compile.stdin === undefined;
  if (isSettled || (injected === null && !isKept)) return replaceOurselves(run);
  // Not loaded on a hit.
  const { runOwnAsChild, runPlanAsChild } = await import('./child-run.ts');
  return injected === null ? runOwnAsChild(run) : runPlanAsChild(run, injected);
}

async function knownRun(run: Run, surroundings: Surroundings): Promise<KnownRun> {
  const { command, input, injected } = run;
  const compile = injected ?? { ...originalCompile(command, input), mapMessages: null, files: [] };
  const { argv, stdin, mapMessages, files } = compile;
  const identity = injected?.plan.identity ?? planIdentity(command, input.digest, [], 'none');
  const known = injected && recallPlan(surroundings.cacheDirectory, identity);
  const isInjecting = injected?.plan.decisions.some(isInjected) === true;
  const end = (landed: Landed | null, output: string | null) => {
    // A replay can neither edit messages nor read a pipe.
    const isReplayable = stdin === undefined && (mapMessages === null || output !== null);
    run.onEnd({
      ...{ landed, argv, fallback: null, output },
      ...{ replayFiles: isReplayable ? files : null, isEdited: mapMessages !== null },
    });
  };
  return {
    ...run,
    ...{ surroundings, compile, end },
    note(finding) {
      if (isAsBefore(command.files)) notePlan(surroundings.cacheDirectory, identity, finding);
    },
    entry: known?.state === 'killed' ? null : known,
    ...{ isInjecting, mustProve: isInjecting && surroundings.settings.require === 'landed' },
    cached: await cachedOutput(command, input, identity, surroundings),
  };
}

/** Runs the user's own command in place of a broken plan. */
function runUntuned(run: KnownRun, { reason }: LedgerEntry): Promise<never> {
  const { command, input, surroundings, onEnd, mayFallBack } = run;
  const fallback = because('broke-before', `these configurations broke this compile before: ${reason}`);
  onEnd({ ...NOT_APPLIED, argv: command.argv, fallback });
  if (!mayFallBack) return refuse(fallback.reason, surroundings.settings);
  return runInPlace(command.compiler.executable, originalCompile(command, input), surroundings.env);
}

/** Delivers the output from the output cache or from this build's modules, and ends this process. Returns if neither has it. */
function deliverKnown(run: KnownRun): void {
  const { module, injected, entry, cached, note, end } = run;
  const delivered = cached.deliver(module);
  if (delivered === null) return;
  noteDelivered();
  if (injected !== null) note({ landed: null });
  end(entry?.landed ?? null, delivered.output);
  exitLike(SUCCESS);
}

/** Runs a plan that compiles for certain, or the user's own command, in our place. */
async function replaceOurselves({ command, surroundings, compile, entry, end }: KnownRun): Promise<never> {
  const { executable } = command.compiler;
  const { argv, stdin, mapMessages } = compile;
  const { env, cacheDirectory } = surroundings;
  end(entry?.landed ?? null, null);
  if (mapMessages === null) return runInPlace(executable, compile, env);
  const result = await capture(command, argv, { env, stdin }, cacheDirectory);
  show(result, mapMessages);
  return exitLike(result);
}
