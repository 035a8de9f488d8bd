// What a compile leaves behind for who asks: counters, the log, the explain JSON.
import { writeFileSync, writeSync } from 'node:fs';
import { noteCounts } from '../report/counting.ts';
import { countsOf, countsOfPass, type Counted } from '../report/counts.ts';
import { largestCache } from '../backend/device.ts';
import { explainOperations, whyNothing, type Explanation } from '../report/explain.ts';
import { timeSharesOf, type ProgramTimes } from '../report/time-shares.ts';
import { messageOf, tell, writeLog } from '../system/tell.ts';
import type { Ending } from './run-plan.ts';
import type { Inspected } from '../plan/inspected.ts';
import type { PassThrough } from './inspect.ts';
import type { LockedBuild } from './locked.ts';
import type { Surroundings } from '../settings/surroundings.ts';
import type { Command } from '../compiler/command.ts';

/** Since this process was started. */
const seconds = (until = performance.now()) => until / 1000;

/** A compile with decisions; called when it is clear how it ends, just before this process ends or is replaced. */
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
): void {
  const { landed, fallback } = ending;
  const counted = { decisions, injection, verdict, landed, fallback, tuningSeconds: times.tuning };
  noteCounts(surroundings.cacheDirectory, countsOf(counted));

  explain(surroundings, () => ({
    version: 1,
    compiler: { ...inspected.site.compiler, executable: command.compiler.executable },
    target: inspected.site.target.target,
    device: inspected.site.device,
    route: ending.fallback === null ? injection.route : 'none',
    applied: ending.applied,
    command: [command.compiler.executable, ...ending.argv],
    reason: ending.fallback ?? whyNothing(injection, forms),
    operations: explainOperations(inspected.input.bytes, inputName(command), decisions, ending.landed),
    lock: lock && { path: lock.path, used: lock.whole !== null, problem: lock.problem },
    forms,
    time: timeSharesOf(decisions, programTimes, largestCache(inspected.site.device)),
    program: verdict,
    seconds: {
      total: seconds(),
      tuning: times.tuning,
      overhead: seconds(times.handedOver) - times.tuning,
    },
  }));
}

/** A compile that is passed on as it is. */
export function reportPass(pass: PassThrough, command: Command, surroundings: Surroundings): void {
  noteCounts(surroundings.cacheDirectory, countsOfPass(pass.pass, pass.decisions));
  if (command.arguments.informational) return;
  explain(surroundings, () => ({
    version: 1,
    compiler: { executable: command.compiler.executable },
    target: null,
    device: null,
    route: 'none',
    applied: null,
    command: [command.compiler.executable, ...command.argv],
    reason: pass.pass,
    operations: explainOperations(pass.input ?? new Uint8Array(), inputName(command), pass.decisions, null),
    lock: null,
    forms: null,
    time: null,
    program: null,
    seconds: { total: seconds(), tuning: 0, overhead: seconds() },
  }));
}

const inputName = ({ arguments: { input } }: Command) => (input?.kind === 'file' ? input.path : '<stdin>');

function explain({ settings }: Surroundings, explanation: () => Explanation): void {
  if (settings.explain === undefined && settings.log === undefined) return;
  const made = explanation();
  if (settings.log !== undefined) writeLog(JSON.stringify(made), settings.log);
  if (settings.explain === undefined) return;
  const text = `${JSON.stringify(made, null, 2)}\n`;
  try {
    if (settings.explain === '-') writeSync(2, text);
    else writeFileSync(settings.explain, text);
  } catch (error) {
    tell(`the explanation could not be written: ${messageOf(error)}`, settings.log);
  }
}
