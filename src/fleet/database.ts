// The queue's own connection to the team's server: what the queue's library asks for goes through the connection that all
// else goes through, with its limits, its certificates and its way of breaking and coming back.
import type { Db } from 'pg-boss';
import type { Address } from '../team/address.ts';
import { LateError, openConnection, type Connection } from '../team/connection.ts';
import { failureOf, lateFailure } from '../team/failure.ts';
import type { Failure } from '../team/team.ts';
import { UserError } from '../system/user-error.ts';

/** Any one statement of the queue, in milliseconds. */
const STATEMENT_LIMIT_MS = 10_000;

/** What the server was asked for did not come. The message names the server, and never a password. */
export class ServerError extends UserError {
  override readonly name = 'ServerError';
  readonly failure: Failure;
  /** SQL's, where it is the server's answer. */
  readonly code: unknown;
  constructor(failure: Failure, cause?: unknown) {
    super(failure.reason);
    this.failure = failure;
    this.code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
  }
}

/** Rejects with `ServerError` only. */
export interface QueueDatabase extends Db {
  /** Rows of a statement. */
  rows(text: string, values?: readonly unknown[]): Promise<readonly Record<string, unknown>[]>;
  close(): void;
}

/** @param connection one that exists already, which is not closed then */
export function queueDatabase(
  address: Address,
  password: string,
  connection: Connection = openConnection(address, password),
): QueueDatabase {
  let last: Promise<unknown> = Promise.resolve();
  /** A connection does one thing at a time. */
  const inTurn = <T>(action: () => Promise<T>): Promise<T> => {
    const result = last.then(action, action);
    last = result.catch(() => undefined);
    return result;
  };
  const failed = (error: unknown): Failure =>
    error instanceof LateError
      ? lateFailure(address, STATEMENT_LIMIT_MS)
      : failureOf(error, address, password);
  const rows = (text: string, values: readonly unknown[] = []) =>
    inTurn(async () => {
      try {
        return (await connection.query(text, values, STATEMENT_LIMIT_MS)) as Record<string, unknown>[];
      } catch (error) {
        // What begins a transaction and fails in it leaves it open.
        if (/^\s*BEGIN\b/.test(text))
          await connection.query('ROLLBACK', [], STATEMENT_LIMIT_MS).catch(() => undefined);
        throw new ServerError(failed(error), error);
      }
    });
  return {
    rows,
    executeSql: async (text, values) => ({ rows: [...(await rows(text, values))] }),
    close() {
      connection.close();
    },
  };
}
