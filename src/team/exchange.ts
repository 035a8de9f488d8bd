// Pulling what is new on a team's server into the local database, and pushing what is new there.
import { shortHash } from '../system/hash.ts';
import type { Exchange } from '../store/exchange/exchange.ts';
import type { Line, TrialLine } from '../store/exchange/lines.ts';
import type { Answer, Cursor, Filter, Pushed, Team } from './team.ts';

/** What the local database does for it. */
export type Local = Pick<Exchange, 'receive' | 'changes' | 'peer' | 'setPeer'>;

/**
 * Merges lines of a server into the local database.
 * @param later texts of lines that are kept until a version of this program understands them
 * @returns how many lines have told something new, how many of these revoke something, and how many are refused
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

/** What one pull came to. */
export interface PullResult {
  readonly received: number;
  /** Lines that have told something new. */
  readonly added: number;
  /** Lines of a later version: kept, and read after an upgrade. */
  readonly kept: number;
  /** Lines that are not sound, not what their digests say, or of something that nobody has described. */
  readonly ignored: number;
  readonly restarted: boolean;
}

/** What one push came to; `complete` says that nothing is left to push. */
export interface PushResult extends Pick<Pushed, 'changed' | 'refused'> {
  readonly sent: number;
  /** Lines of a later version: not pushed before an upgrade. */
  readonly kept: number;
  readonly complete: boolean;
}

/**
 * Each filter has a cursor of its own: what one has passed another has never seen. Cursors called `pull` are of versions that did not
 * keep lines of later versions, so their lines are read once more.
 */
const pullName = (server: string, { target, compiler, device = '' }: Filter) =>
  `${server} read ${shortHash(JSON.stringify([target, compiler, device]))}`;

/**
 * Pulls page after page; what was pulled stays, also when a later page does not come. Where something new is revoked, all pages are pulled
 * once more: a claim may have come before that lost against a claim that is revoked now.
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
    // Every write makes all remembered compiles stale.
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
    // All of it comes again, but for what it has told.
    sum = { ...NOTHING_PULLED, added: sum.added, restarted: sum.restarted };
    cursor = null;
    isRevoking = false;
  }
}

const NOTHING_PULLED: PullResult = { received: 0, added: 0, kept: 0, ignored: 0, restarted: false };
const NOTHING_TAKEN = { added: 0, revoked: 0, refused: 0 };

/** Changes of one push. */
const BATCH = 1000;

/** Of all trials those that tell others something: what failed, and what was in the finals. */
const isWorthPushing = (line: Line): boolean =>
  line.type !== 'trial' || line.outcome !== 'measured' || wasInFinals(line);
const wasInFinals = ({ runs }: TrialLine) => runs.some(({ stage }) => stage === 'finals');

export interface PushOptions {
  /** For everything together, in milliseconds. */
  readonly limitMs: number;
  /** Also of those that were only screened. */
  readonly allTrials: boolean;
}

/**
 * Pushes what is new since the last push to this server in this epoch, batch after batch, as long as there is time. What the
 * server does not take is not tried again.
 */
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
    ...{ sent: 0, kept: 0, complete: true, refused: {} },
    changed: { claims: 0, marks: 0, trials: 0, revocations: 0 },
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
      sum = added(sum, answer.value, lines.length);
    }
    sum = { ...sum, kept: sum.kept + kept.length };
    pushed = last;
  }
  if (pushed !== before) local.setPeer(server, { epoch, pulled: peer?.pulled ?? 0, pushed });
  return failure ?? { ok: true, value: sum };
}

function added(sum: PushResult, { changed, refused }: Pushed, sent: number): PushResult {
  const reasons = { ...sum.refused };
  for (const [reason, count] of Object.entries(refused)) reasons[reason] = (reasons[reason] ?? 0) + count;
  return {
    ...sum,
    sent: sum.sent + sent,
    refused: reasons,
    changed: {
      claims: sum.changed.claims + changed.claims,
      marks: sum.changed.marks + changed.marks,
      trials: sum.changed.trials + changed.trials,
      revocations: sum.changed.revocations + changed.revocations,
    },
  };
}
