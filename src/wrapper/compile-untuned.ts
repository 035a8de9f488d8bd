// Runs an untuned command. The output cache delivers its output if it has it.
import type { Command } from '../compiler/command.ts';
import { countsOfPass } from '../report/counts.ts';
import type { Surroundings } from '../settings/surroundings.ts';
import { takenStdin } from '../system/bytes.ts';
import type { Ending } from './ending.ts';
import { runInPlace } from './in-place.ts';
import type { Untuned } from './inspect.ts';
import { rememberRun, stampsBefore } from './replay.ts';
import { reportUntuned } from './report-compile.ts';
import { runPlan } from './run-plan.ts';

/** Runs the user's own command. Never returns. */
export async function compileUntuned(
  untuned: Untuned,
  command: Command,
  surroundings: Surroundings,
): Promise<never> {
  const { input: text } = untuned;
  const report = () => reportUntuned(untuned, command, surroundings);
  if (text === undefined || command.arguments.input?.kind !== 'file') {
    report();
    return runInPlace(command.compiler.executable, command.argv, takenStdin(), surroundings.env);
  }
  const before = stampsBefore(surroundings);
  const onEnd = (ending: Ending) => {
    const again = { counts: countsOfPass(untuned, untuned.decisions), explanation: report() };
    rememberRun(ending, again, command, text, before, [], surroundings);
  };
  const own = { command, input: text, decisions: [], injected: null, module: null, mayFallBack: true };
  return runPlan({ ...own, workSeconds: () => Infinity, onEnd }, surroundings);
}
