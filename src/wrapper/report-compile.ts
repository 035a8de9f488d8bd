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
import { timeSharesOf, type ProgramTimes } from '../report/time-shares.ts';
import type { Surroundings } from '../settings/surroundings.ts';
import type { Decided } from './decide.ts';
import { allLanded, type Ending } from './ending.ts';
import type { PassThrough } from './inspect.ts';
import { NO_REASON } from '../system/reason.ts';

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
  note(
    countsOf({ decisions, injection, verdict, landed, fallback, tuningSeconds: tuning }),
    command,
    surroundings,
  );
  if (!isExplained(surroundings.settings)) return null;
  const explanation: Explanation = {
    version: EXPLAIN_VERSION,
    compiler: { ...site.compiler, executable: command.compiler.executable },
    target: site.target.target,
    device: site.device,
    route: fallback === null ? injection.route : 'none',
    ...{
      applied: fallback === null && allLanded(landed),
      forms,
      program: verdict && explainProgram(verdict),
    },
    command: [command.compiler.executable, ...argv],
    ...(fallback ?? whyNothing(injection, forms) ?? NO_REASON),
    operations: explainOperations(input, inputName(command), decisions, landed),
    lock: lock && { path: lock.path, used: lock.whole !== null, problem: lock.problem },
    time: timeSharesOf(decisions, programTimes, largestCache(site.device)),
    seconds: { total: seconds(), tuning, overhead: seconds(handedOver) - tuning },
  };
  writeExplanation(explanation, surroundings.settings);
  return explanation;
}

/** Reports an untuned compile. @returns as for `reportCompile` */
export function reportPass(
  { pass, decisions, input }: PassThrough,
  command: Command,
  surroundings: Surroundings,
): Explanation | null {
  note(countsOfPass(pass, decisions), command, surroundings);
  if (command.arguments.informational || !isExplained(surroundings.settings)) return null;
  const { executable } = command.compiler;
  const text = input ?? { bytes: new Uint8Array(), cuts: [] };
  const explanation: Explanation = {
    ...{ version: EXPLAIN_VERSION, route: 'none', target: null, device: null, applied: null },
    ...{ lock: null, forms: null, time: null, program: null },
    compiler: { executable },
    command: [executable, ...command.argv],
    ...pass,
    operations: explainOperations(text, inputName(command), decisions, null),
    seconds: { total: seconds(), tuning: 0, overhead: seconds() },
  };
  writeExplanation(explanation, surroundings.settings);
  return explanation;
}

const inputName = ({ arguments: { input } }: Command) => (input?.kind === 'file' ? input.path : '<stdin>');

function note(counts: Counts, command: Command, { cacheDirectory }: Surroundings): void {
  noteCounts(cacheDirectory, counts);
  logBuild(cacheDirectory, inputName(command), false, counts);
}
