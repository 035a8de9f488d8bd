// What is known of plans: a plan that once compiled is run in our place the next time, a plan that once broke a
// compile is not tried again. One small file per plan, made again when lost.
import { readCached, shortHash, writeCached } from '../compiler/cache.ts';

export interface PlanMemory {
  /** The whole text that the name is derived from, so that a collision of names is noticed. */
  readonly identity: string;
  readonly state: 'proven' | 'broken';
  /** For each decision, whether its configuration was seen in the executables; null when nobody looked. */
  readonly landed: readonly (boolean | null)[] | null;
}

/**
 * What identifies a plan: the compiler, the command, the input's digest and everything injected. `inputDigest` is a
 * cryptographic one, since a plan that is taken for another one is run without a safety net.
 */
export function planIdentity(
  compiler: string,
  argv: readonly string[],
  inputDigest: string,
  injection: string,
): string {
  return JSON.stringify([compiler, argv, inputDigest, injection]);
}

const fileName = (identity: string) => `plan-${shortHash(identity)}.json`;

export function recallPlan(cacheDirectory: string, identity: string): PlanMemory | null {
  const memory = readCached(cacheDirectory, fileName(identity), isPlanMemory);
  return memory?.identity === identity ? memory : null;
}

export function rememberPlan(cacheDirectory: string, memory: PlanMemory): void {
  writeCached(cacheDirectory, fileName(memory.identity), memory);
}

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
