// One connection to a team's server, with a limit on everything that is done by it. The only place that knows the driver.
import { Socket } from 'node:net';
import type Driver from 'pg';
import type { Client } from 'pg';
import type { Address } from './address.ts';

/** The time was up. What was going on is of no interest to anybody any more. */
export class LateError extends Error {
  override readonly name = 'LateError';
}

export interface Connection {
  /** Rows of a statement, or of all statements of a text without values. Rejects with the driver's error, or with `LateError`; the connection is gone then, or with any other failure of it. */
  query(text: string, values: readonly unknown[], limitMs: number): Promise<readonly unknown[]>;
  close(): void;
}

/** Whether it is a server's answer, which comes with one of SQL's codes. */
const isFromServer = (error: unknown): boolean =>
  error instanceof Error && 'severity' in error && error.severity === 'ERROR';

/**
 * Connects when it is first needed, and again after a failure. The driver's own limits leave out what comes before a
 * connection, and wait for a server to agree; here the socket is destroyed.
 */
export function openConnection(address: Address, password: string): Connection {
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
      // Given by a function, or the driver would look for one in files and say so on stderr.
      password: () => password,
      application_name: 'iree-compile-tuned',
      // The driver's own default, `prefer`, is what an attacker prefers.
      ssl: tls === null ? false : { rejectUnauthorized: tls.verified, ca: tls.authorities },
      stream: () => socket,
    });
    // A connection that breaks while nobody waits for it is opened anew; the end of one before is no news.
    client.on('error', () => {
      if (live?.client === client) drop();
    });
    live = { client, socket };
    await client.connect();
    return client;
  };

  const within = async <T>(limitMs: number, action: () => Promise<T>): Promise<T> => {
    const clock = Promise.withResolvers<never>();
    const timer = setTimeout(() => {
      clock.reject(new LateError());
    }, limitMs);
    const work = action();
    // When the clock wins, what comes of the work has no listener.
    work.catch(() => undefined);
    try {
      return await Promise.race([work, clock.promise]);
    } catch (error) {
      // What a server has answered leaves the connection as it was.
      if (!isFromServer(error)) drop();
      throw error;
    } finally {
      clearTimeout(timer);
    }
  };

  return {
    query: async (text, values, limitMs) => {
      // Loaded here, and at nobody's expense but the first one's: reading the driver takes longer than most questions.
      const { default: driver } = await import('pg');
      return within(limitMs, async () => {
        const client = await connect(driver);
        const result = await client.query<Record<string, unknown>>(text, [...values]);
        // Of several statements in one text the driver gives a list, whatever its types say.
        return [result].flat().flatMap(({ rows }) => rows);
      });
    },
    close() {
      const closing = live;
      live = null;
      if (closing === null) return;
      // Politely, and not for longer than it takes to say so.
      closing.client.end().catch(() => undefined);
      closing.socket.unref();
    },
  };
}
