// What is known of plans: a plan that once compiled is run in our place the next time, a plan that once broke a
// compile is not tried again.
import { statSync } from 'node:fs';
import { fileIdentity } from '../compiler/cache.ts';
import { isInjected, type Decision } from '../decision/decision.ts';
import { isNeutral } from '../target/flags.ts';
import { workloadKey } from '../workload/workload.ts';
import type { Command } from './inspect.ts';
import { memoryOf } from './memory.ts';

export interface PlanMemory {
  readonly identity: string;
  readonly state: 'proven' | 'broken';
  /** For each decision, whether its configuration was seen in the executables; null when nobody looked. */
  readonly landed: readonly (boolean | null)[] | null;
}

/**
 * What identifies a plan: the compiler, what it is told, the input and everything injected. Where the output goes
 * and what the input is called are left out: they do not decide whether a compile succeeds.
 */
export function planIdentity(
  command: Command,
  inputDigest: string,
  decisions: readonly Decision[],
  route: string,
): string {
  return JSON.stringify([inputDigest, route, ...context(command), decisions.map(injected)]);
}

/** The same program under the same flags, whatever its file is called. */
export const programIdentity = (command: Command, inputDigest: string): string =>
  JSON.stringify([inputDigest, ...context(command)]);

/** The same input under the same flags: what a survey of it is remembered by. */
export function inputIdentity(command: Command, inputDigest: string): string {
  const { input } = command.arguments;
  // Places in the input are remembered with the name that it had.
  return JSON.stringify([inputDigest, input?.kind === 'file' ? input.path : null, ...context(command)]);
}

function context({ compiler, arguments: args }: Command): unknown[] {
  const flags = args.flags.filter(({ name }) => name !== 'o').map(({ name, value }) => [name, value]);
  return [fileIdentity(compiler.executable), flags, filesOfFlags(args).map((path) => fileIdentity(path))];
}

/** Files that flags name, such as parameters: what is in them decides about a compile like the flags themselves. */
export function filesOfFlags({ flags }: Command['arguments']): string[] {
  const named = flags.flatMap((flag) => {
    if (flag.value === null || isNeutral(flag)) return [];
    // A scope of parameters stands before its file.
    return [...new Set([flag.value, flag.value.slice(flag.value.lastIndexOf('=') + 1)])];
  });
  return named.filter(isFile);
}

function isFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    // Most values are no paths at all.
    return false;
  }
}

function injected(decision: Decision): unknown {
  if (!isInjected(decision)) return null;
  const { key, loops, written } = decision.tunable;
  return [
    key,
    loops,
    decision.configuration,
    written && [workloadKey(written.workload), written.writtenLoops],
  ];
}

export const planMemory = memoryOf('plan', isPlanMemory);

function isPlanMemory(value: unknown): value is PlanMemory {
  if (typeof value !== 'object' || value === null) return false;
  const { identity, state, landed } = value as Partial<Record<keyof PlanMemory, unknown>>;
  return (
    typeof identity === 'string' &&
    (state === 'proven' || state === 'broken') &&
    (landed === null ||
      (Array.isArray(landed) && landed.every((item) => item === null || typeof item === 'boolean')))
  );
}
