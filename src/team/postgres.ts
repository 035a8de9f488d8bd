// A team's server that is a PostgreSQL database with the schema of db/team/. Loaded where a server is asked, never on a hit.
import { readValue } from '../store/exchange/read.ts';
import type { Line } from '../store/exchange/lines.ts';
import { parseJson } from '../store/validate.ts';
import { isObject } from '../system/data.ts';
import { neighboursIn } from '../store/like.ts';
import { readAddress, type Address } from './address.ts';
import { LateError, openConnection } from './connection.ts';
import { failureOf, isAboutData, lateFailure, protocolFailure, strangeFailure } from './failure.ts';
import { areCounts, isCount, readDemands, readFleet, type Json } from './read-fleet.ts';
import { likenessOf, trialsAlike } from './like.ts';
import { passwordFor } from './password-file.ts';
import {
  PROTOCOL,
  type Answer,
  type Cursor,
  type Page,
  type Pushed,
  type Received,
  type ServerStatus,
  type Team,
} from './team.ts';

/** Functions of the server, by their names in its schema. */
type Function =
  | ('ask' | 'pull' | 'push' | 'want' | 'revoke' | 'trials' | 'trials_like' | 'status')
  | ('demands' | 'settle' | 'attend' | 'leave' | 'fleet');

/**
 * Opens nothing yet: that is part of the first call, and of its limit.
 * @throws UserError when the URL says what is not understood
 */
export function openTeam(url: string, env: Readonly<Record<string, string | undefined>>): Team {
  const address = readAddress(url);
  const password = passwordFor(address, env);
  const connection = openConnection(address, password);

  /** Of the requests: one less where the server is one behind. */
  let protocol = PROTOCOL;
  /** Rejects with what the driver rejects with. */
  const send = async (name: Function, request: Json, limitMs: number): Promise<Answer<Json>> => {
    const begun = performance.now();
    const text = JSON.stringify({ ...request, protocol });
    const [row] = await connection.query(`SELECT iree_tuned.${name}($1) AS answer`, [text], limitMs);
    const answer = isObject(row) ? row['answer'] : undefined;
    if (!isObject(answer)) return { ok: false, failure: strangeFailure(address) };
    const spoken = answer['protocol'];
    if (spoken === protocol) return { ok: true, value: answer };
    if (protocol !== PROTOCOL || spoken !== PROTOCOL - 1)
      return { ok: false, failure: protocolFailure(address, spoken) };
    protocol = spoken;
    return send(name, request, Math.max(1, limitMs - (performance.now() - begun)));
  };
  const failed = (error: unknown, limitMs: number): Answer<never> => ({
    ok: false,
    failure: error instanceof LateError ? lateFailure(address, limitMs) : failureOf(error, address, password),
  });
  /** @param read what an answer says; undefined where it does not say that */
  const call = async <T>(
    name: Function,
    request: Json,
    limitMs: number,
    read: (answer: Json) => T | undefined,
  ): Promise<Answer<T>> => {
    try {
      return understood(await send(name, request, limitMs), read, address);
    } catch (error) {
      return failed(error, limitMs);
    }
  };
  /** Lines that the server does not take are found by halves, and counted. */
  const push = async (lines: readonly Line[], end: number): Promise<Answer<Pushed>> => {
    const limitMs = Math.max(1, Math.round(end - performance.now()));
    try {
      return understood(await send('push', { lines: byType(lines) }, limitMs), readPushed, address);
    } catch (error) {
      if (!isAboutData(error)) return failed(error, limitMs);
      if (lines.length === 1) {
        const { failure } = failed(error, limitMs) as Answer<never> & { ok: false };
        return { ok: true, value: { ...NOTHING_PUSHED, refused: { [failure.reason]: 1 } } };
      }
      // What is described in one half is known by the time the other one needs it.
      const middle = Math.ceil(lines.length / 2);
      const first = await push(lines.slice(0, middle), end);
      if (!first.ok) return first;
      const second = await push(lines.slice(middle), end);
      return second.ok ? { ok: true, value: sumOf(first.value, second.value) } : second;
    }
  };

  return {
    ask: (question, limitMs) => call('ask', { ...question }, limitMs, readReceived),
    identify: (limitMs) =>
      call('ask', { workloads: [] }, limitMs, ({ server, epoch }) =>
        typeof server === 'string' && typeof epoch === 'string' ? { server, epoch } : undefined,
      ),
    pull: (filter, cursor, limitMs) => call('pull', { ...filter, ...cursor }, limitMs, readPage),
    push: (lines, limitMs) => push(lines, performance.now() + limitMs),
    want: (lines, subjects, limitMs) =>
      call('want', { lines: byType(lines), subjects }, limitMs, ({ wanted }) =>
        isCount(wanted) ? { wanted } : undefined,
      ),
    revoke: (revocation, limitMs) =>
      call('revoke', { lines: byType([revocation]) }, limitMs, ({ revoked }) =>
        isCount(revoked) ? { revoked } : undefined,
      ),
    trials: (key, limitMs) => call('trials', { ...key }, limitMs, readReceived),
    trialsLike: (subject, limitMs) =>
      call('trials_like', likenessOf(subject), limitMs, (answer) => {
        const received = readReceived(answer);
        return received && neighboursIn(trialsAlike(received.lines, subject));
      }),
    status: (limitMs) => call('status', {}, limitMs, readStatus),
    demands: (place, limitMs) =>
      call('demands', { ...place }, limitMs, (answer) => {
        const received = readReceived(answer);
        const demands = readDemands(answer);
        return received && demands && { ...received, demands, more: answer['more'] === true };
      }),
    settle: (subjects, refused, limitMs) =>
      call('settle', { subjects, refused }, limitMs, ({ settled }) =>
        isCount(settled) ? { settled } : undefined,
      ),
    attend: (worker, limitMs) =>
      call('attend', { worker }, limitMs, ({ attended }) => (isCount(attended) ? { attended } : undefined)),
    leave: ({ id }, limitMs) =>
      call('leave', { worker: { id } }, limitMs, ({ left }) => (isCount(left) ? { left } : undefined)),
    fleet: (limitMs) => call('fleet', {}, limitMs, readFleet),
    close: () => {
      connection.close();
    },
  };
}

/** As the server's functions take them: by type, and forms as texts, for JSON that it keeps as such comes back in another order. */
const byType = (lines: readonly Line[]) =>
  Object.groupBy(
    lines.map((line) => ('form' in line ? { ...line, form: JSON.stringify(line.form) } : line)),
    ({ type }) => type,
  );

/** The same the other way round; what is no such thing stays as it is, for others to refuse. */
function fromServer(value: unknown): unknown {
  if (!isObject(value) || typeof value['form'] !== 'string') return value;
  return { ...value, form: parseJson(value['form']) };
}

function understood<T>(
  answer: Answer<Json>,
  read: (answer: Json) => T | undefined,
  address: Address,
): Answer<T> {
  if (!answer.ok) return answer;
  const value = read(answer.value);
  return value === undefined ? { ok: false, failure: strangeFailure(address) } : { ok: true, value };
}

/** Anybody may have written what comes from there: each line is checked on its own. */
function readReceived({ lines }: Json): Received | undefined {
  if (!Array.isArray(lines)) return undefined;
  const readings = lines.map((line) => readValue(fromServer(line)));
  return {
    lines: readings.flatMap((reading) => (reading.outcome === 'line' ? [reading.line] : [])),
    later: readings.flatMap((reading) => (reading.outcome === 'foreign' ? [reading.text] : [])),
    ignored: readings.filter(({ outcome }) => outcome === 'refused').length,
  };
}

function readPage(answer: Json): Page | undefined {
  const received = readReceived(answer);
  const { server, epoch, seq, more, restarted } = answer;
  const isCursor = typeof server === 'string' && typeof epoch === 'string' && isCount(seq);
  if (received === undefined || !isCursor) return undefined;
  const cursor: Cursor = { server, epoch, seq };
  return { ...received, cursor, more: more === true, restarted: restarted === true };
}

const NOTHING_PUSHED: Pushed = {
  server: '',
  epoch: '',
  changed: { claims: 0, marks: 0, trials: 0, revocations: 0 },
  refused: {},
};

function readPushed({ server, epoch, changed, unwelcome }: Json): Pushed | undefined {
  if (typeof server !== 'string' || typeof epoch !== 'string') return undefined;
  if (!areCounts(changed) || !areCounts(unwelcome)) return undefined;
  const { claims = 0, marks = 0, trials = 0, revocations = 0 } = changed;
  return { server, epoch, changed: { claims, marks, trials, revocations }, refused: unwelcome };
}

function sumOf(a: Pushed, b: Pushed): Pushed {
  const refused = { ...a.refused };
  for (const [reason, count] of Object.entries(b.refused)) refused[reason] = (refused[reason] ?? 0) + count;
  return {
    server: a.server || b.server,
    epoch: a.epoch || b.epoch,
    changed: {
      claims: a.changed.claims + b.changed.claims,
      marks: a.changed.marks + b.changed.marks,
      trials: a.changed.trials + b.changed.trials,
      revocations: a.changed.revocations + b.changed.revocations,
    },
    refused,
  };
}

function readStatus({
  server,
  epoch,
  protocol,
  version,
  login,
  counts,
  bytes,
}: Json): ServerStatus | undefined {
  if (typeof server !== 'string' || typeof epoch !== 'string' || typeof login !== 'string') return undefined;
  if (!isCount(protocol) || !isCount(version) || !areCounts(counts) || !areCounts(bytes)) return undefined;
  return { server, epoch, protocol, version, login, counts, bytes };
}
