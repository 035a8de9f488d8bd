// The queue's connection to the fleet's server. The queue's library runs its SQL through it, so our limits and certificates apply.
import type { Db } from 'pg-boss';
import { UserError } from '../system/user-error.ts';
import type { Address } from './address.ts';
import { openConnection } from './connection.ts';
import { failureOf, type Failure } from './failure.ts';

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
export interface QueueDatabase extends Db {
  /** Rows of a statement. */
  rows(text: string, values?: readonly unknown[]): Promise<readonly Record<string, unknown>[]>;
  close(): void;
}

/** @param application name of the connection on the server */
export function queueDatabase(address: Address, password: string, application?: string): QueueDatabase {
  const connection = openConnection(address, password, application);
  const rows = async (text: string, values: readonly unknown[] = []) => {
    try {
      return (await connection.query(text, values, STATEMENT_LIMIT_MS)) as Record<string, unknown>[];
    } catch (error) {
      throw new ServerError(failureOf(error, address, password), error);
    }
  };
  return {
    rows,
    executeSql: async (text, values) => ({ rows: [...(await rows(text, values))] }),
    close() {
      connection.close();
    },
  };
}
