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
 * - `killed`: the system killed the compiler once, perhaps because memory ran out
 * - `compiled`: the plan compiles
 * - `landed`: the executables have every configuration
 * - `lost`: the executables lack a configuration
 * - `broken`: the plan does not compile, but the user's own command does
 */
export type PlanState = 'killed' | 'compiled' | 'landed' | 'lost' | 'broken';

export interface LedgerEntry {
  readonly identity: string;
  readonly state: PlanState;
  /** Null without a proof. */
  readonly landed: Landed | null;
  /** Why the plan is broken; null for a plan that compiles. */
  readonly reason: string | null;
}

/** Result of one build of a plan: it compiles, with a proof or without (null), it is broken, or the system killed the compiler. */
export type Finding = { readonly landed: Landed | null } | { readonly reason: string } | 'killed';

/** Allowed transitions. Two builds may note the same state, and no build takes back a later state. A second kill breaks a plan. */
export const TRANSITIONS: Readonly<Record<'unknown' | PlanState, readonly PlanState[]>> = {
  unknown: ['killed', 'compiled', 'landed', 'lost', 'broken'],
  killed: ['compiled', 'landed', 'lost', 'broken'],
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
  command: Pick<Command, 'arguments' | 'files' | 'rewriting'>,
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

/** The entries of all plans; none for a plan that never ran. */
export const ledger = memoryOf(
  PLANS,
  hasFields<LedgerEntry>({
    identity: isText,
    state: (value) => value !== 'unknown' && Object.hasOwn(TRANSITIONS, String(value)),
    ...{ reason: orNull(isText), landed: orNull(listOf(orNull(isBoolean))) },
  }),
);

/** Notes a finding, unless the entry has a later state by now. */
export function notePlan(cacheDirectory: string, identity: string, finding: Finding): void {
  const before = ledger.recall(cacheDirectory, identity)?.state ?? 'unknown';
  const isSecondKill = finding === 'killed' && before === 'killed';
  const entry = ledgerEntryOf(identity, isSecondKill ? { reason: KILLED } : finding);
  if (TRANSITIONS[before].includes(entry.state)) ledger.remember(cacheDirectory, entry);
}

const KILLED = 'the system killed the compiler in two builds, perhaps because memory ran out';

function ledgerEntryOf(identity: string, finding: Finding): LedgerEntry {
  if (finding === 'killed') return { identity, state: 'killed', landed: null, reason: KILLED };
  if ('reason' in finding) return { identity, state: 'broken', landed: null, reason: finding.reason };
  const { landed } = finding;
  const state = landed === null ? 'compiled' : landed.includes(false) ? 'lost' : 'landed';
  return { identity, state, landed, reason: null };
}
