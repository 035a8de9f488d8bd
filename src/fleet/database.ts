// The fleet's server: its statements, messages about its failures, which contain no password, and a worker's repeated calls. The queue's
// library runs its SQL through it, so our limits and certificates apply. Only this file uses the driver.
import { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type Driver from 'pg';
import type { Client } from 'pg';
import type { Db } from 'pg-boss';
import { errorCode } from '../store/errors.ts';
import { messageOf } from '../system/tell.ts';
import { UserError } from '../system/user-error.ts';
import { passwordFor, readAddress } from './address.ts';

/** Time limit of one statement, in milliseconds. */
const STATEMENT_LIMIT_MS = 10_000;

/**
 * - `unreachable`: no answer in time, or no connection.
 * - `denied`: the login or the certificate is refused.
 * - `incompatible`: the tables are missing.
 * - `rejected`: the server refuses a statement.
 */
type FailureKind = 'unreachable' | 'denied' | 'incompatible' | 'rejected';

/** The server failed or did not answer. The message names the server and the way out, and never a password. */
export class ServerError extends UserError {
  override readonly name = 'ServerError';
  readonly kind: FailureKind;
  /** SQLSTATE, if the server answered. */
  readonly code: string;
  constructor(server: string, kind: FailureKind, said: string, code: string) {
    super(`the fleet's server ${server} ${sentence(kind, said)}`);
    this.kind = kind;
    this.code = code;
  }
}

export type Row = Readonly<Record<string, unknown>>;

/** Rejects with `ServerError` only. */
export interface ServerDatabase extends Db, Disposable {
  /**
   * Rows of one statement, or of all statements of a text without values. Statements run one after the other. Any error but the server's
   * closes the connection; the next statement opens a new one.
   */
  rows(text: string, values?: readonly unknown[]): Promise<readonly Row[]>;
}

/**
 * A database of the server, which connects at the first statement, and again after a failure. The driver's own limits exclude the name
 * look-up and need the server's consent, so this destroys the socket instead.
 * @param url valid by `isServerAddress`
 * @param env for a password that the URL lacks
 * @param application name of the connection on the server
 * @throws UserError for parameters of the URL that are not supported
 */
export function serverDatabase(
  url: string,
  env: Readonly<Record<string, string | undefined>>,
  application = 'iree-compile-tuned',
  limitMs = STATEMENT_LIMIT_MS,
): ServerDatabase {
  const address = readAddress(url);
  const password = passwordFor(address, env);
  let live: { readonly client: Client; readonly socket: Socket } | null = null;
  const drop = () => {
    live?.socket.destroy();
    live = null;
  };

  const connect = async (driver: typeof Driver): Promise<Client> => {
    if (live !== null) return live.client;
    const socket = new Socket();
    const { host, port, user, database, tls } = address;
    const client = new driver.Client({
      host,
      port,
      user,
      database,
      // A function, because without one the driver reads password files and prints warnings.
      password: () => password,
      application_name: application,
      // The driver's default `prefer` would allow a plain connection.
      ssl: tls === null ? false : { rejectUnauthorized: tls.verified, ca: tls.authorities },
      stream: () => socket,
    });
    // An idle connection that breaks is dropped. An older connection may report its end late.
    client.on('error', () => {
      if (live?.client === client) drop();
    });
    live = { client, socket };
    await client.connect();
    return client;
  };

  const withinLimit = async <T>(action: () => Promise<T>): Promise<T> => {
    const clock = Promise.withResolvers<never>();
    const timer = setTimeout(() => {
      clock.reject(new Error(`no answer within ${Math.ceil(limitMs)} ms`));
    }, limitMs);
    const work = action();
    // After a time-out nothing else handles a rejection of the work.
    work.catch(() => undefined);
    try {
      return await Promise.race([work, clock.promise]);
    } catch (error) {
      // After an error of the server the connection is still usable.
      if (!isFromServer(error)) drop();
      throw error;
    } finally {
      clearTimeout(timer);
    }
  };

  let last: Promise<unknown> = Promise.resolve();
  const run = async (text: string, values: readonly unknown[]) => {
    // Outside the limit: the first load of the driver takes longer than most statements.
    const { default: driver } = await import('pg');
    return withinLimit(async () => {
      const client = await connect(driver);
      const result = await client.query<Row>(text, [...values]);
      // For several statements the driver returns a list, against its types.
      return [result].flat().flatMap(({ rows }) => rows);
    });
  };
  const rows = (text: string, values: readonly unknown[] = []): Promise<Row[]> => {
    const result = last.then(() => run(text, values));
    last = result
      .catch(async () => {
        // A failed text that began a transaction leaves it open.
        if (live !== null && /^\s*BEGIN\b/.test(text)) await run('ROLLBACK', []);
      })
      .catch(() => undefined);
    return result.catch((error: unknown) => {
      throw serverErrorOf(error, address.shown, password);
    });
  };
  const close = () => {
    const closing = live;
    live = null;
    if (closing === null) return;
    // `unref`, so that the goodbye does not keep the process alive.
    closing.client.end().catch(() => undefined);
    closing.socket.unref();
  };
  return {
    rows,
    [Symbol.dispose]: close,
    executeSql: async (text, values) => ({ rows: await rows(text, values) }),
  };
}

/** Whether the server itself reported the error. */
const isFromServer = (error: unknown): boolean =>
  error instanceof Error && 'severity' in error && error.severity === 'ERROR';

const LONGEST = 300;

/** A server's message as one line without control characters. */
const quoted = (text: string): string =>
  text
    .replace(/\p{C}+/gu, ' ')
    .trim()
    .slice(0, LONGEST);

/** Replaces the password, plain or URL-encoded. */
function withoutSecret(text: string, password: string): string {
  if (password === '') return text;
  return [password, encodeURIComponent(password)].reduce(
    (rest, secret) => rest.replaceAll(secret, '***'),
    text,
  );
}

/** TLS errors that a retry cannot fix. */
const CERTIFICATE =
  /^(?:CERT_|ERR_TLS_CERT|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_(?:VERIFY|GET_ISSUER)|HOSTNAME_MISMATCH)/;

/** The kind by SQLSTATE: authorisation (28), missing schema objects, then data, constraints, limits and permission. */
function kindOf(code: string, message: string): FailureKind {
  if (code.startsWith('28') || CERTIFICATE.test(code)) return 'denied';
  // The driver reports these without a code.
  if (/^SASL|does not support SSL/.test(message)) return 'denied';
  if (['3F000', '42883', '42P01'].includes(code)) return 'incompatible';
  if (/^(?:2[123]|54)...$|^42501$/.test(code)) return 'rejected';
  return 'unreachable';
}

/** @param password of the connection, from any source */
function serverErrorOf(error: unknown, server: string, password: string): ServerError {
  const message = messageOf(error);
  const code = errorCode(error);
  const said = withoutSecret(quoted(message || code), password);
  return new ServerError(server, kindOf(code, message), said, code);
}

function sentence(kind: FailureKind, said: string): string {
  switch (kind) {
    case 'denied':
      return `denies access (${said}): correct the setting "fleet"`;
    case 'incompatible':
      return `has no queue (${said}): iree-tuned team queue --install makes one`;
    case 'rejected':
      return `refuses this: ${said}`;
    case 'unreachable':
      return `cannot be reached: ${said}`;
  }
}

/** Pause between two attempts to reach the server, in milliseconds. */
const PAUSE_MS = 1000;

/** The worker stopped waiting for a server that did not answer. */
export class GivenUpError extends Error {
  override readonly name = 'GivenUpError';
}

export type Retry = <T>(action: () => Promise<T>) => Promise<T>;

/**
 * Repeats an action while the server is unreachable. Rejects with any other error at once, and with `GivenUpError` after `giveUp`
 * aborts or `isWorthWaiting` becomes false.
 */
export function retryUntilReachable(
  giveUp: AbortSignal,
  isWorthWaiting: () => boolean,
  say: (line: string) => void,
): Retry {
  let isAway = false;
  return async (action) => {
    for (;;) {
      try {
        const value = await action();
        if (isAway) say('the server answers again');
        isAway = false;
        return value;
      } catch (error) {
        if (!(error instanceof ServerError) || error.kind !== 'unreachable') throw error;
        if (giveUp.aborted || !isWorthWaiting()) throw new GivenUpError(error.message);
        if (!isAway) say(error.message);
        isAway = true;
        await sleep(PAUSE_MS, undefined, { signal: giveUp }).catch(() => undefined);
      }
    }
  };
}
