// The ledger: states of plans on this machine. A plan that has compiled runs in our place the next time; a plan that has broken a compile
// is not tried again.
import { commandIdentity } from '../compiler/command-identity.ts';
import type { Command } from '../compiler/command.ts';
import { isInjected, type Decision } from '../decision/decision.ts';
import { PLANS } from '../system/cache.ts';
import { hasFields, isBoolean, isText, listOf, orNull } from '../system/data.ts';
import { memoryOf } from '../system/memory.ts';
import { workloadKey } from '../workload/workload.ts';

/** For each decision, whether its configuration was seen in the executables; null for one without. */
export type Landed = readonly (boolean | null)[];

/**
 * - `compiled`: the compiler accepts it
 * - `landed`: every configuration was seen in the executables
 * - `lost`: one was not
 * - `broken`: it fails, and the same command without the injection does not
 */
export type PlanState = 'compiled' | 'landed' | 'lost' | 'broken';

export interface LedgerEntry {
  readonly identity: string;
  readonly state: PlanState;
  /** Null if no build has looked. */
  readonly landed: Landed | null;
  /** Of a broken plan, the compiler's message. */
  readonly reason: string | null;
}

/** Result of one build of a plan. */
export type Finding =
  | { readonly state: 'compiled' }
  | { readonly state: 'seen'; readonly landed: Landed }
  | { readonly state: 'broken'; readonly reason: string };

/** Allowed transitions. Two builds at once may find the same, and no build takes back a later state. */
export const TRANSITIONS: Readonly<Record<'unknown' | PlanState, readonly PlanState[]>> = {
  unknown: ['compiled', 'landed', 'lost', 'broken'],
  compiled: ['landed', 'lost', 'broken'],
  landed: ['broken'],
  lost: ['broken'],
  broken: [],
};

/**
 * Key of a plan: compiler, command line, CPU, input and injection. Paths of input and output are left out: they do not decide whether a
 * compile succeeds.
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

/** Where an entry lies. */
export const ledgerPath = (cacheDirectory: string, identity: string): string =>
  entries.pathOf(cacheDirectory, identity);

/** Null for a plan that never ran. */
export const recallPlan = (cacheDirectory: string, identity: string): LedgerEntry | null =>
  entries.recall(cacheDirectory, identity);

/** Writes a finding down, unless the entry has a later state by now. */
export function notePlan(cacheDirectory: string, identity: string, finding: Finding): void {
  const entry = entryOf(identity, finding);
  const before = recallPlan(cacheDirectory, identity)?.state ?? 'unknown';
  if (TRANSITIONS[before].includes(entry.state)) entries.remember(cacheDirectory, entry);
}

function entryOf(identity: string, finding: Finding): LedgerEntry {
  switch (finding.state) {
    case 'compiled':
      return { identity, state: 'compiled', landed: null, reason: null };
    case 'seen': {
      const { landed } = finding;
      return { identity, state: landed.includes(false) ? 'lost' : 'landed', landed, reason: null };
    }
    case 'broken':
      return { identity, state: 'broken', landed: null, reason: finding.reason };
  }
}
