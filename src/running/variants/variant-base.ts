// The program with the variant of its decisions, from which rounds can start.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { withTrailingFlags } from '../../compiler/command.ts';
import { withConfigurations } from '../../decision/decision.ts';
import { sameExecutables } from '../../inject/executable-sources.ts';
import { splitProgram } from '../../inject/split-program.ts';
import { injectedCommand, resumedInjection } from '../../plan/injected-command.ts';
import { flowOf } from '../../plan/kept-modules.ts';
import { planCompile } from '../../plan/route.ts';
import type { Work } from '../../tuning/tune-workloads.ts';
import { compiling } from '../compiling.ts';
import { keysOf, type Runnable } from '../program-builds.ts';
import type { RoundBase } from '../round-bench.ts';
import type { DecidedProgram } from '../verify-program.ts';

/**
 * The program with the variant, compiled; null if it does not compile. Rounds tune its other workloads, if their executables are found again.
 * @param works of the program without the variant
 */
export async function variantBase(
  program: DecidedProgram,
  ready: Runnable,
  works: readonly Work[],
): Promise<RoundBase | null> {
  const { command, surroundings, kept, variant } = program;
  const decisions = withConfigurations(program.decisions, variant);
  const plan = planCompile(program, decisions, surroundings);
  if (plan.injection.route === 'none') return null;
  const injected = await injectedCommand(plan, surroundings);
  if (injected === null) return null;
  const resumed = (path: string) => resumedInjection(injected, path);
  const run = compiling(program);
  const known = await kept.split(flowOf(command, plan.injection), ready.folder, (folder) =>
    splitProgram(run, injected, resumed, folder),
  );
  if (typeof known === 'string') return null;
  // Another injection can have the same flow.
  const split = { ...known, resumed: (path = known.path) => resumed(path) };
  const folder = join(ready.folder, 'variant');
  mkdirSync(folder, { recursive: true });
  const module = join(folder, 'stock.vmfb');
  const begun = performance.now();
  if ((await run(withTrailingFlags(split.resumed(), ['-o', module]))) !== null) return null;
  const compileSeconds = (performance.now() - begun) / 1000;
  const names = sameExecutables(ready.split!.sources, split.sources);
  const others = works.flatMap((work): Work[] => {
    const executables = work.executables?.map((name) => names.get(name)) ?? [];
    const found = executables.filter((name) => name !== undefined);
    const isFound = found.length > 0 && found.length === executables.length;
    return variant.has(work.key) || !isFound ? [] : [{ ...work, executables: found }];
  });
  const always = keysOf(decisions);
  return { split, module, decisions, always, works: others, folder, compileSeconds };
}
