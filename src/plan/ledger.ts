// The ledger: states of plans on this machine. After a plan has compiled, it replaces our process the next time. A broken plan is not tried
// again.
import { commandIdentity } from '../compiler/command-identity.ts';
import type { Command } from '../compiler/command.ts';
import { isInjected, type Decision } from '../decision/decision.ts';
import { PLANS } from '../system/cache.ts';
import { hasFields, isBoolean, isText, listOf, orNull } from '../system/data.ts';
import { memoryOf } from '../system/memory.ts';
import { workloadKey } from '../workload/workload.ts';

/** For each decision, whether the executables have its configuration; null for a decision without one. */
export type Landed = readonly (boolean | null)[];

/**
 * - `compiled`: the plan compiles
 * - `landed`: the executables have every configuration
 * - `lost`: the executables lack a configuration
 * - `broken`: the plan does not compile, but the user's own command does
 */
export type PlanState = 'compiled' | 'landed' | 'lost' | 'broken';

export interface LedgerEntry {
  readonly identity: string;
  readonly state: PlanState;
  /** Null without a proof. */
  readonly landed: Landed | null;
  /** The compiler's message about a broken plan; null for other plans. */
  readonly reason: string | null;
}

/** Result of one build of a plan: it compiles, with a proof or without (null), or it is broken. */
export type Finding = { readonly landed: Landed | null } | { readonly reason: string };

/** Allowed transitions. Two builds may note the same state, and no build takes back a later state. */
export const TRANSITIONS: Readonly<Record<'unknown' | PlanState, readonly PlanState[]>> = {
  unknown: ['compiled', 'landed', 'lost', 'broken'],
  compiled: ['landed', 'lost', 'broken'],
  landed: ['broken'],
  lost: ['broken'],
  broken: [],
};

/**
 * Key of a plan: compiler, command line, CPU, input and injection. It has no paths of input and output, because
 * the success of a compile does not depend on them.
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

const entries = memoryOf(
  PLANS,
  hasFields<LedgerEntry>({
    identity: isText,
    state: (value) => value !== 'unknown' && Object.hasOwn(TRANSITIONS, String(value)),
    ...{ reason: orNull(isText), landed: orNull(listOf(orNull(isBoolean))) },
  }),
);

/** Path of an entry. */
export const ledgerPath = (cacheDirectory: string, identity: string): string =>
  entries.pathOf(cacheDirectory, identity);

/** The entry of a plan; null if the plan never ran. */
export const recallPlan = (cacheDirectory: string, identity: string): LedgerEntry | null =>
  entries.recall(cacheDirectory, identity);

/** Notes a finding, unless the entry has a later state by now. */
export function notePlan(cacheDirectory: string, identity: string, finding: Finding): void {
  const entry = entryOf(identity, finding);
  const before = recallPlan(cacheDirectory, identity)?.state ?? 'unknown';
  if (TRANSITIONS[before].includes(entry.state)) entries.remember(cacheDirectory, entry);
}

function entryOf(identity: string, finding: Finding): LedgerEntry {
  if ('reason' in finding) return { identity, state: 'broken', landed: null, reason: finding.reason };
  const { landed } = finding;
  const state = landed === null ? 'compiled' : landed.includes(false) ? 'lost' : 'landed';
  return { identity, state, landed, reason: null };
}
