// The queue's connection to the team's server. The queue's library runs its SQL through it, so our limits and certificates apply.
import type { Db } from 'pg-boss';
import type { Address } from '../team/address.ts';
import { openConnection, type Connection } from '../team/connection.ts';
import { failureOf } from '../team/failure.ts';
import type { Answer, Failure } from '../team/team.ts';
import { UserError } from '../system/user-error.ts';

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

/** @throws ServerError if the answer is a failure */
export function valueOf<T>(answer: Answer<T>): T {
  if (answer.ok) return answer.value;
  throw new ServerError(answer.failure);
}

/** Rejects with `ServerError` only. */
export interface QueueDatabase extends Db {
  /** Rows of a statement. */
  rows(text: string, values?: readonly unknown[]): Promise<readonly Record<string, unknown>[]>;
  close(): void;
}

/** @param connection runs the statements; a new one by default */
export function queueDatabase(
  address: Address,
  password: string,
  connection: Connection = openConnection(address, password),
): QueueDatabase {
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
