// A client of a team's server: a PostgreSQL database with the schema of db/team/. Hits never load it.
import { readValue } from '../store/exchange/read.ts';
import type { Line } from '../store/exchange/lines.ts';
import { parseJson } from '../store/validate.ts';
import { isObject, isText } from '../system/data.ts';
import { neighboursIn } from '../store/like.ts';
import { readAddress, type Address } from './address.ts';
import { openConnection } from './connection.ts';
import { failureOf, isAboutData, protocolFailure, unknownAnswerFailure } from './failure.ts';
import { areCounts, isCount, readDemands, readFleet, reader, type Json } from './read-fleet.ts';
import { likenessOf, trialsAlike } from './like.ts';
import { passwordFor } from './password-file.ts';
import {
  NOTHING_PUSHED,
  PROTOCOL,
  sumOfPushes,
  type Answer,
  type Cursor,
  type Page,
  type Pushed,
  type Received,
  type ServerStatus,
  type Team,
} from './team.ts';

/** Functions of the server's schema. */
type Function =
  | ('ask' | 'pull' | 'push' | 'want' | 'revoke' | 'trials' | 'trials_like' | 'status')
  | ('demands' | 'settle' | 'attend' | 'leave' | 'fleet');

/**
 * The first call connects, within its limit.
 * @throws UserError for an invalid URL
 */
export function openTeam(url: string, env: Readonly<Record<string, string | undefined>>): Team {
  const address = readAddress(url);
  const password = passwordFor(address, env);
  const connection = openConnection(address, password);

  /** Protocol of requests: one less for a server that is one behind. */
  let protocol = PROTOCOL;
  /** Rejects with errors of the driver. */
  const send = async (name: Function, request: Json, limitMs: number): Promise<Answer<Json>> => {
    const begun = performance.now();
    const text = JSON.stringify({ ...request, protocol });
    const [row] = await connection.query(`SELECT iree_tuned.${name}($1) AS answer`, [text], limitMs);
    const answer = isObject(row) ? row['answer'] : undefined;
    if (!isObject(answer)) return { ok: false, failure: unknownAnswerFailure(address) };
    const spoken = answer['protocol'];
    if (spoken === protocol) return { ok: true, value: answer };
    if (protocol !== PROTOCOL || spoken !== PROTOCOL - 1)
      return { ok: false, failure: protocolFailure(address, spoken) };
    protocol = spoken;
    return send(name, request, Math.max(1, limitMs - (performance.now() - begun)));
  };
  const failed = (error: unknown) => ({ ok: false, failure: failureOf(error, address, password) }) as const;
  /** @param read validates an answer; undefined if it is invalid */
  const call = async <T>(
    name: Function,
    request: Json,
    limitMs: number,
    read: (answer: Json) => T | undefined,
  ): Promise<Answer<T>> => {
    try {
      return understood(await send(name, request, limitMs), read, address);
    } catch (error) {
      return failed(error);
    }
  };
  /** Bisects rejected lines, and counts the lines that the server refuses. */
  const push = async (lines: readonly Line[], end: number): Promise<Answer<Pushed>> => {
    const limitMs = Math.max(1, Math.round(end - performance.now()));
    try {
      return understood(await send('push', { lines: byType(lines) }, limitMs), readPushed, address);
    } catch (error) {
      if (!isAboutData(error)) return failed(error);
      if (lines.length === 1) {
        const refused = { [failed(error).failure.reason]: 1 };
        return { ok: true, value: { ...NOTHING_PUSHED, server: '', epoch: '', refused } };
      }
      // In order, because lines may refer to earlier ones.
      const middle = Math.ceil(lines.length / 2);
      const first = await push(lines.slice(0, middle), end);
      if (!first.ok) return first;
      const second = await push(lines.slice(middle), end);
      if (!second.ok) return second;
      const { server, epoch } = first.value.server === '' ? second.value : first.value;
      return { ok: true, value: { server, epoch, ...sumOfPushes(first.value, second.value) } };
    }
  };

  return {
    ask: (question, limitMs) => call('ask', { ...question }, limitMs, readReceived),
    identify: (limitMs) => call('ask', { workloads: [] }, limitMs, readIdentity),
    pull: (filter, cursor, limitMs) => call('pull', { ...filter, ...cursor }, limitMs, readPage),
    push: (lines, limitMs) => push(lines, performance.now() + limitMs),
    want: (lines, subjects, limitMs) =>
      call(
        'want',
        { lines: byType(lines), subjects },
        limitMs,
        reader<{ wanted: number }>({ wanted: isCount }),
      ),
    revoke: (revocation, limitMs) =>
      call(
        'revoke',
        { lines: byType([revocation]) },
        limitMs,
        reader<{ revoked: number }>({ revoked: isCount }),
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
        const [received, found] = [readReceived(answer), readDemands(answer)];
        return received && found && { ...received, ...found, more: answer['more'] === true };
      }),
    settle: (subjects, refused, limitMs) =>
      call('settle', { subjects, refused }, limitMs, reader<{ settled: number }>({ settled: isCount })),
    attend: (worker, limitMs) =>
      call('attend', { worker }, limitMs, reader<{ attended: number }>({ attended: isCount })),
    leave: ({ id }, limitMs) =>
      call('leave', { worker: { id } }, limitMs, reader<{ left: number }>({ left: isCount })),
    fleet: (limitMs) => call('fleet', {}, limitMs, readFleet),
    close: () => {
      connection.close();
    },
  };
}

/** Arguments of the server's functions: lines by type. Forms are texts, because `jsonb` would reorder their keys. */
const byType = (lines: readonly Line[]) =>
  Object.groupBy(
    lines.map((line) => ('form' in line ? { ...line, form: JSON.stringify(line.form) } : line)),
    ({ type }) => type,
  );

/** The inverse for one line. Other values pass, and validation refuses them. */
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
  return value === undefined ? { ok: false, failure: unknownAnswerFailure(address) } : { ok: true, value };
}

/** Validates each line: anybody may have written it. */
function readReceived({ lines }: Json): Received | undefined {
  if (!Array.isArray(lines)) return undefined;
  const readings = lines.map((line) => readValue(fromServer(line)));
  return {
    lines: readings.flatMap((reading) => (reading.outcome === 'line' ? [reading.line] : [])),
    later: readings.flatMap((reading) => (reading.outcome === 'foreign' ? [reading.text] : [])),
    ignored: readings.filter(({ outcome }) => outcome === 'refused').length,
  };
}

const readIdentity = reader<Pick<Cursor, 'server' | 'epoch'>>({ server: isText, epoch: isText });
const readCursor = reader<Cursor>({ server: isText, epoch: isText, seq: isCount });

function readPage(answer: Json): Page | undefined {
  const [received, cursor] = [readReceived(answer), readCursor(answer)];
  const { more, restarted } = answer;
  return received && cursor && { ...received, cursor, more: more === true, restarted: restarted === true };
}

function readPushed(answer: Json): Pushed | undefined {
  const [identity, { changed, unwelcome }] = [readIdentity(answer), answer];
  if (identity === undefined || !areCounts(changed) || !areCounts(unwelcome)) return undefined;
  const { claims = 0, marks = 0, trials = 0, revocations = 0 } = changed;
  return { ...identity, changed: { claims, marks, trials, revocations }, refused: unwelcome };
}

const readStatus = reader<ServerStatus>({
  ...{ server: isText, epoch: isText, login: isText, protocol: isCount, version: isCount },
  ...{ counts: areCounts, bytes: areCounts },
});
