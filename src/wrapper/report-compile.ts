// Reports a compile: counters, the log of builds, the explain JSON.
import { largestCache } from '../backend/device.ts';
import type { Command } from '../compiler/command.ts';
import { logBuild } from '../report/build-log.ts';
import { noteCounts, type Counts } from '../report/counting.ts';
import { countsOf, countsOfPass } from '../report/counts.ts';
import {
  EXPLAIN_VERSION,
  explainOperations,
  explainProgram,
  whyNothing,
  type Explanation,
} from '../report/explain.ts';
import { isExplained, writeExplanation } from '../report/explain-file.ts';
import { lossOf } from '../report/loss.ts';
import { timeSharesOf, type ProgramTimes } from '../report/time-shares.ts';
import type { Surroundings } from '../settings/surroundings.ts';
import type { Decided } from './decide.ts';
import { allLanded, type Ending } from './ending.ts';
import type { Untuned } from './inspect.ts';

/** Seconds since the start of this process. */
const seconds = (until = performance.now()) => until / 1000;

/**
 * Reports a compile with decisions.
 * @param handedOver end of the decisions, by `performance.now()`
 * @returns its explanation; null if no setting asks for one
 */
export function reportCompile(
  ending: Ending,
  decided: Decided,
  programTimes: ProgramTimes,
  handedOver: number,
): Explanation | null {
  const { command, decisions, injection, verdict, forms, lock, tuning, surroundings } = decided;
  const { input, site } = decided.inspected;
  const { argv, landed, fallback } = ending;
  const counts = countsOf({ decisions, injection, verdict, landed, fallback, tuningSeconds: tuning });
  return report(counts, command, surroundings, (executable) => ({
    compiler: { ...site.compiler, executable },
    target: site.target.target,
    device: site.device,
    route: fallback === null ? injection.route : 'none',
    applied: fallback === null && allLanded(landed),
    ...{ forms, program: verdict && explainProgram(verdict) },
    command: [executable, ...argv],
    ...(fallback ?? whyNothing(injection, forms)),
    operations: explainOperations(input, inputName(command), decisions, landed),
    lock: lock && { path: lock.path, used: lock.whole !== null, problem: lock.problem },
    time: timeSharesOf(decisions, programTimes, largestCache(site.device)),
    loss: lossOf(programTimes.dispatches, programTimes.wholeSeconds, programTimes.rates),
    seconds: { total: seconds(), tuning, overhead: seconds(handedOver) - tuning },
  }));
}

/** Reports an untuned compile. @returns as for `reportCompile` */
export function reportUntuned(
  { code, reason, decisions, input }: Untuned,
  command: Command,
  surroundings: Surroundings,
): Explanation | null {
  const text = input ?? { bytes: new Uint8Array(), cuts: [] };
  return report(countsOfPass({ code, reason }, decisions), command, surroundings, (executable) => ({
    ...{ route: 'none', target: null, device: null, applied: null },
    ...{ lock: null, forms: null, time: null, loss: null, program: null },
    compiler: { executable },
    command: [executable, ...command.argv],
    ...{ code, reason },
    operations: explainOperations(text, inputName(command), decisions, null),
    seconds: { total: seconds(), tuning: 0, overhead: seconds() },
  }));
}

const inputName = ({ arguments: { input } }: Command) => (input?.kind === 'file' ? input.path : '<stdin>');

/** Notes counts, and writes the explanation if a setting asks for it. @returns the explanation */
function report(
  counts: Counts,
  command: Command,
  { cacheDirectory, settings }: Surroundings,
  explain: (executable: string) => Omit<Explanation, 'version'>,
): Explanation | null {
  noteCounts(cacheDirectory, counts);
  logBuild(cacheDirectory, inputName(command), false, counts);
  if (command.arguments.informational || !isExplained(settings)) return null;
  const explanation: Explanation = { version: EXPLAIN_VERSION, ...explain(command.compiler.executable) };
  writeExplanation(explanation, settings);
  return explanation;
}
