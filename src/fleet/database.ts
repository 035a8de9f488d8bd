// The fleet's server: its statements, messages about its failures, which contain no password, and a worker's repeated calls. The queue's
// library runs its SQL through it, so our limits and certificates apply.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Db } from 'pg-boss';
import { errorCode } from '../store/errors.ts';
import { messageOf } from '../system/tell.ts';
import { UserError } from '../system/user-error.ts';
import { passwordFor, readAddress, type Address } from './address.ts';
import { openConnection, type Row } from './connection.ts';

/** Time limit of one statement, in milliseconds. */
const STATEMENT_LIMIT_MS = 10_000;

/** The server failed or did not answer. The message names the server, and never a password. */
export class ServerError extends UserError {
  override readonly name = 'ServerError';
  readonly failure: Failure;
  /** SQLSTATE, if the server answered. */
  readonly code: unknown;
  constructor(failure: Failure, cause?: unknown) {
    super(failure.reason);
    this.failure = failure;
    this.code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
  }
}

/** Rejects with `ServerError` only. */
export interface ServerDatabase extends Db, Disposable {
  rows(text: string, values?: readonly unknown[]): Promise<readonly Row[]>;
  close(): void;
}

/**
 * A database of the server, which connects at the first statement.
 * @param url valid by `isServerAddress`
 * @param env for a password that the URL lacks
 * @param application name of the connection on the server
 * @throws UserError for parameters of the URL that are not supported
 */
export function serverDatabase(
  url: string,
  env: Readonly<Record<string, string | undefined>>,
  application?: string,
  limitMs = STATEMENT_LIMIT_MS,
): ServerDatabase {
  const address = readAddress(url);
  const password = passwordFor(address, env);
  const connection = openConnection(address, password, application);
  const rows = (text: string, values: readonly unknown[] = []) =>
    connection.query(text, values, limitMs).catch((error: unknown) => {
      throw new ServerError(failureOf(error, address, password), error);
    });
  const close = () => {
    connection.close();
  };
  return {
    ...{ rows, close, [Symbol.dispose]: close },
    executeSql: async (text, values) => ({ rows: [...(await rows(text, values))] }),
  };
}

/**
 * - `unreachable`: no answer in time, or no connection.
 * - `denied`: the login or the certificate is refused.
 * - `incompatible`: the tables are missing.
 * - `rejected`: the server refuses a statement.
 */
export type FailureKind = 'unreachable' | 'denied' | 'incompatible' | 'rejected';

export interface Failure {
  readonly kind: FailureKind;
  /** Names the server, and the way out. */
  readonly reason: string;
}

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
export function failureOf(error: unknown, { shown }: Address, password: string): Failure {
  const message = messageOf(error);
  const kind = kindOf(errorCode(error), message);
  const said = withoutSecret(quoted(message || errorCode(error)), password);
  return { kind, reason: `the fleet's server ${shown} ${sentence(kind, said)}` };
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
        if (!(error instanceof ServerError) || error.failure.kind !== 'unreachable') throw error;
        if (giveUp.aborted || !isWorthWaiting()) throw new GivenUpError(error.message);
        if (!isAway) say(error.message);
        isAway = true;
        await sleep(PAUSE_MS, undefined, { signal: giveUp }).catch(() => undefined);
      }
    }
  };
}
