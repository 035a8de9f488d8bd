// Reports a compile: the log of builds, the explain JSON, and the memory for a replay.
import { largestCache } from '../backend/device.ts';
import { inputName, type Command } from '../compiler/command.ts';
import type { Decision } from '../decision/decision.ts';
import { surveyMemory } from '../input/survey-memory.ts';
import type { InjectedCommand } from '../plan/injected-command.ts';
import { ledger } from '../plan/ledger.ts';
import { logBuild } from '../report/build-log.ts';
import { countsOf, type Counts } from '../report/counts.ts';
import {
  EXPLAIN_VERSION,
  explainOperations,
  explainProgram,
  whyNothing,
  type Explanation,
} from '../report/explain.ts';
import { explainedAgain, isExplained, writeExplanation } from '../report/explain-file.ts';
import { lossOf } from '../report/loss.ts';
import { timeSharesOf } from '../report/time-shares.ts';
import { knownTimes } from '../running/program-times.ts';
import type { Surroundings } from '../settings/surroundings.ts';
import type { Decided } from './decide.ts';
import type { Untuned } from './inspect.ts';
import { allLanded, type Ending } from './plan-run.ts';
import { rememberRun } from './replay.ts';

/** Seconds since the start of this process. */
const seconds = (until = performance.now()) => until / 1000;

/**
 * Prepares the report of a compile with decisions, at the end of the decisions.
 * @param asked the user's own command, and `given` the user's own surroundings: they identify a replay
 * @returns reports the ending of the compile, and remembers the compile if the next build would repeat it
 */
export async function reporting(
  decided: Decided,
  asked: Command,
  given: Surroundings,
): Promise<(ending: Ending, injected: InjectedCommand | null) => void> {
  const { command, decisions, injection, verdict, forms, lock, tuning, surroundings } = decided;
  const { input, site } = decided.inspected;
  // Only the explanation shows times and records.
  const isShown = isExplained(surroundings.settings);
  const times = knownTimes(decided, isShown ? decided.store : null);
  const records = isShown
    ? await (await import('./provenance.ts')).recordsNow(decided, surroundings)
    : undefined;
  const handedOver = performance.now();
  return reportCompile;

  function reportCompile(ending: Ending, injected: InjectedCommand | null): void {
    const { landed, fallback } = ending;
    const { argv } = (fallback === null ? injected : null) ?? command;
    const counts = countsOf({ decisions, injection, verdict, landed, fallback, tuningSeconds: tuning });
    const explanation = report(counts, command, surroundings, (executable) => ({
      compiler: { ...site.compiler, executable },
      target: site.target.target,
      device: site.device,
      route: fallback === null ? injection.route : 'none',
      applied: fallback === null && allLanded(landed),
      ...{ forms, program: verdict && explainProgram(verdict) },
      command: [executable, ...argv],
      ...(fallback ?? whyNothing(injection, forms)),
      operations: explainOperations(input, inputName(command), decisions, landed, records),
      lock,
      time: timeSharesOf(decisions, times, largestCache(site.device)),
      loss: lossOf(times.dispatches, times.wholeSeconds, times.rates),
      seconds: { total: seconds(), tuning, overhead: seconds(handedOver) - tuning },
    }));
    if (!decided.isFinal) return;
    const { cacheDirectory } = given;
    const memories = [
      surveyMemory.pathOf(cacheDirectory, input.identity),
      ledger.pathOf(cacheDirectory, decided.identity),
    ];
    // A workload that this build tuned is a hit in the next build.
    const hits = decisions.map((one): Decision =>
      one.outcome === 'tuned' ? { ...one, outcome: 'hit' } : one,
    );
    const known = { decisions: hits, injection, landed, fallback };
    const again = { argv, counts: countsOf(known), explanation: explanation && explainedAgain(explanation) };
    const before = [...decided.before, ...decided.files];
    rememberRun(ending, again, asked, input, before, memories, given, decided.mayArrive);
  }
}

/** Reports an untuned compile. @returns its explanation; null if no setting asks for one */
export function reportUntuned(
  { code, reason, decisions, input }: Untuned,
  command: Command,
  surroundings: Surroundings,
): Explanation | null {
  const text = input ?? { bytes: new Uint8Array(), cuts: [] };
  const counts = countsOf({ decisions, injection: { route: 'none', code, reason } });
  return report(counts, command, surroundings, (executable) => ({
    ...{ route: 'none', target: null, device: null, applied: null },
    ...{ lock: null, forms: null, time: null, loss: null, program: null },
    compiler: { executable },
    command: [executable, ...command.argv],
    ...{ code, reason },
    operations: explainOperations(text, inputName(command), decisions, null),
    seconds: { total: seconds(), tuning: 0, overhead: seconds() },
  }));
}

/** Logs the build, and writes the explanation if a setting asks for it. @returns the explanation */
function report(
  counts: Counts,
  command: Pick<Command, 'arguments' | 'compiler'>,
  { cacheDirectory, settings }: Surroundings,
  explain: (executable: string) => Omit<Explanation, 'version'>,
): Explanation | null {
  logBuild(cacheDirectory, inputName(command), false, counts);
  if (command.arguments.informational || !isExplained(settings)) return null;
  const explanation: Explanation = { version: EXPLAIN_VERSION, ...explain(command.compiler.executable) };
  writeExplanation(explanation, settings);
  return explanation;
}
