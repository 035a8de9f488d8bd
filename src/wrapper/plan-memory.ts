// What is known of plans: a plan that once compiled is run in our place the next time, a plan that once broke a
// compile is not tried again.
import { commandIdentity } from '../compiler/command-identity.ts';
import { isInjected, type Decision } from '../decision/decision.ts';
import { workloadKey } from '../workload/workload.ts';
import type { Command } from '../compiler/command.ts';
import { PLANS } from '../system/cache.ts';
import { memoryOf } from '../system/memory.ts';

export interface PlanMemory {
  readonly identity: string;
  readonly state: 'proven' | 'broken';
  /** For each decision, whether its configuration was seen in the executables; null when nobody looked. */
  readonly landed: readonly (boolean | null)[] | null;
}

/**
 * What identifies a plan: the compiler, what it is told, the CPU, the input and everything injected. Where the output goes
 * and what the input is called are left out: they do not decide whether a compile succeeds.
 */
export function planIdentity(
  command: Command,
  inputDigest: string,
  decisions: readonly Decision[],
  route: string,
): string {
  return JSON.stringify([inputDigest, route, ...commandIdentity(command), decisions.map(injected)]);
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

export const planMemory = memoryOf(PLANS, isPlanMemory);

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
