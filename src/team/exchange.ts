// Pulls changes of a team's server into the local database, and pushes local changes.
import { shortHash } from '../system/hash.ts';
import type { Exchange } from '../store/exchange/exchange.ts';
import type { Line, TrialLine } from '../store/exchange/lines.ts';
import {
  NOTHING_PUSHED,
  sumOfPushes,
  type Answer,
  type Cursor,
  type Filter,
  type Pushed,
  type Team,
} from './team.ts';

export type Local = Pick<Exchange, 'receive' | 'changes' | 'peer' | 'setPeer'>;

/**
 * Merges lines of a server into the local database.
 * @param later lines of later versions, which stay until a version of this program understands them
 * @returns the numbers of lines with news, of new revocations, and of refused lines
 */
export function take(
  local: Local,
  lines: readonly Line[],
  later: readonly string[] = [],
): { added: number; revoked: number; refused: number } {
  const { added, refused } = local.receive(
    [
      ...later.map((text) => ({ outcome: 'foreign' as const, text })),
      ...lines.map((line) => ({ outcome: 'line' as const, line })),
    ],
    'team',
  );
  return {
    added: Object.values(added).reduce((sum, count) => sum + count, 0),
    revoked: added.revocation ?? 0,
    refused: refused.length,
  };
}

/** Line counts of one pull. */
export interface PullResult {
  readonly received: number;
  /** Lines with news. */
  readonly added: number;
  /** Lines of a later version, which an upgrade reads. */
  readonly kept: number;
  /** Invalid lines, and lines whose digests or subjects are unknown. */
  readonly ignored: number;
  readonly restarted: boolean;
}

/** Line counts of one push. */
export interface PushResult extends Pick<Pushed, 'changed' | 'refused'> {
  readonly sent: number;
  /** Lines of a later version, which wait for an upgrade. */
  readonly kept: number;
  /** Whether nothing is left to push. */
  readonly complete: boolean;
}

/** Each filter has its own cursor. The word `read` replaces `pull` of versions that dropped lines of later versions. */
const pullName = (server: string, { target, compiler, device = '' }: Filter) =>
  `${server} read ${shortHash(JSON.stringify([target, compiler, device]))}`;

/**
 * Pulls page by page. Each page stays, even if a later page fails. After a new revocation it pulls all pages again: an earlier claim may
 * have lost against the revoked claim.
 */
export async function pull(
  team: Team,
  local: Local,
  filter: Filter,
  server: Pick<Cursor, 'server' | 'epoch'>,
  limitMs: number,
): Promise<Answer<PullResult>> {
  const name = pullName(server.server, filter);
  const peer = local.peer(name);
  let cursor: Cursor | null =
    peer === null ? null : { server: server.server, epoch: peer.epoch, seq: peer.pulled };
  let isRevoking = false;
  let sum = NOTHING_PULLED;
  for (;;) {
    const answer = await team.pull(filter, cursor, limitMs);
    if (!answer.ok) return answer;
    const page = answer.value;
    // A write to the database makes all cached compiles stale.
    const isEmpty = page.lines.length + page.later.length === 0;
    const taken = isEmpty ? NOTHING_TAKEN : take(local, page.lines, page.later);
    sum = {
      received: sum.received + page.lines.length,
      added: sum.added + taken.added,
      kept: sum.kept + page.later.length,
      ignored: sum.ignored + page.ignored + taken.refused,
      restarted: sum.restarted || page.restarted,
    };
    isRevoking ||= taken.revoked > 0;
    const { epoch, seq } = page.cursor;
    if (cursor?.seq !== seq || cursor.epoch !== epoch)
      local.setPeer(name, { epoch, pulled: isRevoking ? 0 : seq, pushed: 0 });
    cursor = page.cursor;
    if (page.more) continue;
    if (!isRevoking) return { ok: true, value: sum };

    sum = { ...NOTHING_PULLED, added: sum.added, restarted: sum.restarted };
    cursor = null;
    isRevoking = false;
  }
}

const NOTHING_PULLED: PullResult = { received: 0, added: 0, kept: 0, ignored: 0, restarted: false };
const NOTHING_TAKEN = { added: 0, revoked: 0, refused: 0 };

/** Changes in one call. */
const BATCH = 1000;

/** Whether a line helps other machines: of trials, only failures and finalists. */
const isWorthPushing = (line: Line): boolean =>
  line.type !== 'trial' || line.outcome !== 'measured' || wasInFinals(line);
const wasInFinals = ({ runs }: TrialLine) => runs.some(({ stage }) => stage === 'finals');

export interface PushOptions {
  /** For all batches together, in milliseconds. */
  readonly limitMs: number;
  /** Whether to push trials that only the screening measured, too. */
  readonly allTrials: boolean;
}

/** Pushes changes since the last push to this epoch of the server, batch by batch until the limit. It sends a refused line only once. */
export async function push(
  team: Team,
  local: Local,
  { server, epoch }: Pick<Cursor, 'server' | 'epoch'>,
  { limitMs, allTrials }: PushOptions,
): Promise<Answer<PushResult>> {
  const end = performance.now() + limitMs;
  const peer = local.peer(server);
  const before = peer?.epoch === epoch ? peer.pushed : 0;
  let pushed = before;
  let sum: PushResult = {
    ...NOTHING_PUSHED,
    ...{ sent: 0, kept: 0, complete: true },
  };
  let failure: (Answer<never> & { ok: false }) | null = null;
  for (;;) {
    const { lines: news, kept, last } = local.changes(pushed, BATCH);
    if (last === null) break;
    const lines = allTrials ? news : news.filter(isWorthPushing);
    const left = end - performance.now();
    if (left <= 0) {
      sum = { ...sum, complete: false };
      break;
    }
    if (lines.length > 0) {
      const answer = await team.push(lines, left);
      if (!answer.ok) {
        failure = answer;
        break;
      }
      sum = { ...sum, ...sumOfPushes(sum, answer.value), sent: sum.sent + lines.length };
    }
    sum = { ...sum, kept: sum.kept + kept.length };
    pushed = last;
  }
  if (pushed !== before) local.setPeer(server, { epoch, pulled: peer?.pulled ?? 0, pushed });
  return failure ?? { ok: true, value: sum };
}
