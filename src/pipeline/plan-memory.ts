// What is known of plans: a plan that once compiled is run in our place the next time, a plan that once broke a
// compile is not tried again. One small file per plan, made again when lost.
import { join } from 'node:path';
import { fileIdentity, readCached, shortHash, writeCached } from '../compiler/cache.ts';
import type { Decision } from '../decision/decision.ts';
import type { Command } from './inspect.ts';

export interface PlanMemory {
  /** The whole text that the name is derived from, so that a collision of names is noticed. */
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

/**
 * The shape of a plan: the same operations with the same configurations under the same flags, whatever else is in the
 * input. Whether configurations land is looked at once per shape.
 */
export function shapeIdentity(command: Command, decisions: readonly Decision[], route: string): string {
  return JSON.stringify([
    route,
    ...context(command),
    decisions.map((decision) => [decision.operation.name, decision.tunable?.key ?? null, injected(decision)]),
  ]);
}

function context({ compiler, arguments: args }: Command): unknown[] {
  const flags = args.flags.filter(({ name }) => name !== 'o').map(({ name, value }) => [name, value]);
  return [fileIdentity(compiler.executable), flags];
}

function injected({ tunable, configuration }: Decision): unknown {
  return configuration === null || configuration.kind === 'default' ? null : [tunable!.loops, configuration];
}

const fileName = (identity: string) => `plan-${shortHash(identity)}.json`;

/** What is known of the plan or the shape with this identity; null when nothing is. */
export function recallPlan(cacheDirectory: string, identity: string): PlanMemory | null {
  const memory = readCached(join(cacheDirectory, 'plans'), fileName(identity), isPlanMemory);
  return memory?.identity === identity ? memory : null;
}

export function rememberPlan(cacheDirectory: string, memory: PlanMemory): void {
  writeCached(join(cacheDirectory, 'plans'), fileName(memory.identity), memory);
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
