// A program in other forms against the program as it is written, before anything of it is tuned: equal results first, then which
// is faster.
import { programRuns } from '../program/runs.ts';
import { purseOf } from '../program/purse.ts';
import { notVerified, type ProgramVerdict } from '../program/verdict.ts';
import type { Surroundings } from '../settings/surroundings.ts';
import type { Command } from '../compiler/command.ts';
import { UserError } from '../system/user-error.ts';
import type { ExecutableTexts } from '../inject/executable-sources.ts';
import { callableOf, callsOf, measuringTools } from './callable.ts';
import type { Inspected } from './inspect.ts';
import { flowOf, type KeptModules } from './kept-modules.ts';
import { programBuilds, type ProgramBuilds } from './program-builds.ts';
import type { FormedProgram } from './program-forms.ts';
import { roundedTypes, type Limits } from './verify-program.ts';

/** File of the program as it is written. */
const WRITTEN = 'written.vmfb';

/** Most programs are several times as fast in one form as in the other: then a few runs say enough. */
const CLEAR = 1.5;

export interface ProvenForms {
  readonly verdict: ProgramVerdict;
  /** Of the time that it took, what the compiler did: as long as a build without tuning would, about. */
  readonly compileSeconds: number;
}

/**
 * Splits a program in its forms, from where everything that is compiled of it goes on.
 * @param kept takes it
 * @returns its executables as the compiler configures them; null where it does not get that far
 */
export async function splitForms(
  command: Command,
  inspected: Inspected,
  surroundings: Surroundings,
  kept: KeptModules,
  { compileSeconds }: Limits,
): Promise<ExecutableTexts['configured'] | null> {
  const folder = kept.folder(surroundings);
  if (folder === null) return null;
  const means = { kept, folder, purse: purseOf(compileSeconds), mostSeconds: compileSeconds / 2 };
  const builds = programBuilds(command, inspected, [], surroundings, means);
  const split = await kept.split(flowOf(command, null), folder, builds.split);
  return typeof split === 'string' ? null : split.configured;
}

/**
 * Compiles both programs at once and runs them. For whoever has the turn to measure.
 * @param written the command without forms
 * @param kept takes the program in its forms as the one that configurations are compared with
 * @throws FormsError when the compiler does not take the forms
 * @throws NotVerifiedError when the runtime's tools are missing
 * @throws StoppedError when the signal fires
 */
export async function proveForms(
  { command, inspected }: FormedProgram,
  written: Command,
  surroundings: Surroundings,
  kept: KeptModules,
  limits: Limits,
  signal: AbortSignal,
): Promise<ProvenForms> {
  const nothing = (reason: string, compileSeconds = 0) => ({ verdict: notVerified(reason), compileSeconds });
  const folder = kept.folder(surroundings);
  if (folder === null) return nothing('nothing can be written to the cache folder');
  const tools = measuringTools(command, surroundings);
  const purse = purseOf(limits.compileSeconds);
  const means = { kept, folder, purse, mostSeconds: limits.compileSeconds / 2 };
  const path = `${folder}/${WRITTEN}`;
  const compiledInForms = async (builds: ProgramBuilds) => {
    // What is tuned of it afterwards goes on from there.
    await kept.split(flowOf(command, null), folder, builds.split);
    return kept.compiledStock(builds, folder);
  };
  const begun = performance.now();
  const [problem, module] = await Promise.all([
    programBuilds(written, inspected, [], surroundings, means).stock(path),
    compiledInForms(programBuilds(command, inspected, [], surroundings, means)),
  ]);
  const compileSeconds = (performance.now() - begun) / 1000;
  if (problem !== null) return nothing(`the program does not compile: ${problem.problem}`, compileSeconds);
  if (typeof module !== 'string') {
    // A form that the compiler cannot take is worse than none.
    if (!module.isLate) throw new FormsError(module.problem);
    return nothing(module.problem, compileSeconds);
  }
  const compiled = () => Promise.resolve(path);
  const callable = await callableOf(written, inspected, surroundings, compiled, limits.inputBytes);
  if (callable.called.length === 0) return nothing('none of its functions can be run', compileSeconds);
  // Sums of a convolution are added in another order, in as many steps as the program has.
  const roundsTo = roundedTypes([], inspected.input.bytes);
  const shared = { stock: path, tools, folder, signal, device: inspected.site.device, roundsTo };
  const contests = (await callsOf(callable, folder)).map((call) => ({ ...shared, ...call }));
  const formed = () => Promise.resolve({ module, dispatches: new Map<string, readonly string[]>() });
  const runs = programRuns(contests, formed, limits.runSeconds, CLEAR);
  const { results, reason } = await runs.compare([]);
  if (results === 'equal') await runs.ratio([]);
  const verdict = { functions: runs.verdictsOf([]), skipped: callable.skipped, leftOut: [] };
  return { verdict: { ...verdict, injected: true, reason }, compileSeconds };
}

/** The compiler does not take a program in its forms. */
export class FormsError extends UserError {
  override readonly name = 'FormsError';
}
