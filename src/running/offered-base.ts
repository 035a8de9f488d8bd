// The program with the offer to all operations at once, from which rounds can start.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { withTrailingFlags } from '../compiler/command.ts';
import type { Decision } from '../decision/decision.ts';
import { withProgramWide, type ProgramWide } from '../decision/program-wide.ts';
import { sameExecutables } from '../inject/executable-sources.ts';
import { splitProgram } from '../inject/split-program.ts';
import type { Work } from '../tuning/tune-workloads.ts';
import { injectedCommand, resumedInjection } from '../plan/injected-command.ts';
import { flowOf } from '../plan/kept-modules.ts';
import { planCompile } from '../plan/route.ts';
import type { RoundBase } from './round-bench.ts';
import type { MeasuredProgram } from './callable.ts';
import { compiling } from './compiling.ts';
import { keysOf } from './program-builds.ts';
import type { Runnable } from './runnable.ts';

/**
 * The program with the offer, compiled; null if it does not compile. Rounds tune its other workloads, if their executables are found again.
 * @param decisions about its operations, without the offer
 */
export async function offeredBase(
  program: MeasuredProgram,
  ready: Runnable,
  works: readonly Work[],
  decisions: readonly Decision[],
  offer: ProgramWide,
): Promise<RoundBase | null> {
  const { command, surroundings, kept } = program;
  const all = withProgramWide(decisions, offer, '');
  const plan = planCompile(program, all, surroundings);
  if (plan.injection.route === 'none') return null;
  const injected = await injectedCommand(plan, surroundings);
  if (injected === null) return null;
  const resumed = (path: string) => resumedInjection(injected, path);
  const run = compiling(program);
  const split = await kept.split(flowOf(command, plan.injection), ready.folder, (folder) =>
    splitProgram(run, injected, resumed, folder),
  );
  if (typeof split === 'string') return null;
  const folder = join(ready.folder, 'offered');
  mkdirSync(folder, { recursive: true });
  const module = join(folder, 'stock.vmfb');
  const begun = performance.now();
  if ((await run(withTrailingFlags(resumed(split.path), ['-o', module]))) !== null) return null;
  const compileSeconds = (performance.now() - begun) / 1000;
  const names = sameExecutables(ready.split!.sources, split.sources);
  const others = works.flatMap((work): Work[] => {
    const executables = work.executables?.map((name) => names.get(name)) ?? [];
    const found = executables.filter((name) => name !== undefined);
    const isFound = found.length > 0 && found.length === executables.length;
    return offer.has(work.key) || !isFound ? [] : [{ ...work, executables: found }];
  });
  const always = keysOf(all);
  return { split, resumed, module, decisions: all, always, works: others, folder, compileSeconds };
}
