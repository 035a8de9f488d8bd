// One connection to the fleet's server, with a time limit for each query. Only this file uses the driver.
import { Socket } from 'node:net';
import type Driver from 'pg';
import type { Client } from 'pg';
import type { Address } from './address.ts';

export type Row = Readonly<Record<string, unknown>>;

export type Connection = ReturnType<typeof openConnection>;

/** Whether the server itself reported the error. */
const isFromServer = (error: unknown): boolean =>
  error instanceof Error && 'severity' in error && error.severity === 'ERROR';

/**
 * Connects at the first query, and again after a failure. The driver's own limits exclude the name look-up and need the server's consent,
 * so this destroys the socket instead.
 */
export function openConnection(address: Address, password: string, application = 'iree-compile-tuned') {
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

  const within = async <T>(limitMs: number, action: () => Promise<T>): Promise<T> => {
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
  const run = async (text: string, values: readonly unknown[], limitMs: number) => {
    // Outside the limit: the first load of the driver takes longer than most queries.
    const { default: driver } = await import('pg');
    return within(limitMs, async () => {
      const client = await connect(driver);
      const result = await client.query<Row>(text, [...values]);
      // For several statements the driver returns a list, against its types.
      return [result].flat().flatMap(({ rows }) => rows);
    });
  };

  return {
    /**
     * Rows of one statement, or of all statements of a text without values. Queries run one after the other. Rejects with the driver's error,
     * or with an error about the time limit. Any error but the server's closes the connection; the next query opens a new one.
     */
    query(text: string, values: readonly unknown[], limitMs: number): Promise<readonly Row[]> {
      const result = last.then(() => run(text, values, limitMs));
      last = result
        .catch(async () => {
          // A failed text that began a transaction leaves it open.
          if (live !== null && /^\s*BEGIN\b/.test(text)) await run('ROLLBACK', [], limitMs);
        })
        .catch(() => undefined);
      return result;
    },
    close() {
      const closing = live;
      live = null;
      if (closing === null) return;
      // `unref`, so that the goodbye does not keep the process alive.
      closing.client.end().catch(() => undefined);
      closing.socket.unref();
    },
  };
}
