// Runs a command that is not tuned. An output that was made before comes from the output cache.
import type { Command } from '../compiler/command.ts';
import { countsOfPass } from '../report/counts.ts';
import type { Surroundings } from '../settings/surroundings.ts';
import { nextRun, type Ending } from './ending.ts';
import { runInPlace } from './in-place.ts';
import type { PassThrough } from './inspect.ts';
import { rememberRun, stampsBefore } from './replay.ts';
import { reportPass } from './report-compile.ts';
import { runPlan } from './run-plan.ts';

/** Runs the command as the user gave it. Never returns. */
export async function passOn(
  pass: PassThrough,
  command: Command,
  surroundings: Surroundings,
): Promise<never> {
  const { input: text, stdin, lasting } = pass;
  const { input } = command.arguments;
  if (!lasting || text === undefined || input?.kind !== 'file') {
    reportPass(pass, command, surroundings);
    return runInPlace(command.compiler.executable, command.argv, stdin, surroundings.env);
  }
  const before = stampsBefore(surroundings);
  const onEnd = (ending: Ending) => {
    const explanation = reportPass(pass, command, surroundings);
    const run = nextRun(ending, command, countsOfPass(pass.pass, pass.decisions), explanation);
    rememberRun(run, command, { path: input.path, text }, before, [], surroundings);
  };
  return runPlan(
    { command, input: text, decisions: [], injected: null, module: null },
    // Nothing is injected that could be lost or fail.
    { mayFallBack: true, onEnd, onLost: () => Promise.resolve(), onFailure() {} },
    surroundings,
  );
}
