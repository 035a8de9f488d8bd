// Reports a compile: counters, the log of builds, the explain JSON.
import { noteCounts, type Counts } from '../report/counting.ts';
import { countsOf, countsOfPass, type Counted } from '../report/counts.ts';
import { largestCache } from '../backend/device.ts';
import { logBuild } from '../report/build-log.ts';
import { explainOperations, whyNothing, type Explanation } from '../report/explain.ts';
import { isExplained, writeExplanation } from '../report/explain-file.ts';
import { timeSharesOf, type ProgramTimes } from '../report/time-shares.ts';
import type { Ending } from './ending.ts';
import type { Inspected } from '../plan/inspected.ts';
import type { PassThrough } from './inspect.ts';
import type { LockedBuild } from './locked.ts';
import type { Surroundings } from '../settings/surroundings.ts';
import type { Command } from '../compiler/command.ts';

/** Since this process was started. */
const seconds = (until = performance.now()) => until / 1000;

/**
 * A compile with decisions; called when it is clear how it ends, just before this process ends or is replaced.
 * @returns its explanation; null if no setting asks for one
 */
export function reportCompile(
  ending: Ending,
  inspected: Inspected,
  command: Command,
  {
    decisions,
    injection,
    verdict,
    forms,
    lock,
    programTimes,
  }: Pick<Counted, 'decisions' | 'injection' | 'verdict'> &
    Pick<Explanation, 'forms'> & {
      readonly lock: LockedBuild | null;
      readonly programTimes: ProgramTimes;
    },
  times: { readonly tuning: number; readonly handedOver: number },
  surroundings: Surroundings,
): Explanation | null {
  const { landed, fallback } = ending;
  const counted = { decisions, injection, verdict, landed, fallback, tuningSeconds: times.tuning };
  note(countsOf(counted), command, surroundings);
  if (!isExplained(surroundings.settings)) return null;
  const explanation: Explanation = {
    version: 1,
    compiler: { ...inspected.site.compiler, executable: command.compiler.executable },
    target: inspected.site.target.target,
    device: inspected.site.device,
    route: ending.fallback === null ? injection.route : 'none',
    applied: ending.applied,
    command: [command.compiler.executable, ...ending.argv],
    reason: ending.fallback ?? whyNothing(injection, forms),
    operations: explainOperations(inspected.input, inputName(command), decisions, ending.landed),
    lock: lock && { path: lock.path, used: lock.whole !== null, problem: lock.problem },
    forms,
    time: timeSharesOf(decisions, programTimes, largestCache(inspected.site.device)),
    program: verdict,
    seconds: {
      total: seconds(),
      tuning: times.tuning,
      overhead: seconds(times.handedOver) - times.tuning,
    },
  };
  writeExplanation(explanation, surroundings.settings);
  return explanation;
}

function note(counts: Counts, command: Command, { cacheDirectory }: Surroundings): void {
  noteCounts(cacheDirectory, counts);
  logBuild(cacheDirectory, inputName(command), false, counts);
}

/** A compile that is passed on as it is. @returns as for `reportCompile` */
export function reportPass(
  pass: PassThrough,
  command: Command,
  surroundings: Surroundings,
): Explanation | null {
  note(countsOfPass(pass.pass, pass.decisions), command, surroundings);
  if (command.arguments.informational || !isExplained(surroundings.settings)) return null;
  const explanation: Explanation = {
    version: 1,
    compiler: { executable: command.compiler.executable },
    target: null,
    device: null,
    route: 'none',
    applied: null,
    command: [command.compiler.executable, ...command.argv],
    reason: pass.pass,
    operations: explainOperations(pass.input ?? NOTHING, inputName(command), pass.decisions, null),
    lock: null,
    forms: null,
    time: null,
    program: null,
    seconds: { total: seconds(), tuning: 0, overhead: seconds() },
  };
  writeExplanation(explanation, surroundings.settings);
  return explanation;
}

const NOTHING = { bytes: new Uint8Array(), cuts: [] };

const inputName = ({ arguments: { input } }: Command) => (input?.kind === 'file' ? input.path : '<stdin>');
