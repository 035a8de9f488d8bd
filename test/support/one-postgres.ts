// One PostgreSQL server for all tests of a run. The run's main process starts it when the first test asks for it: a run without such tests
// starts none. The server ends with the run: see postgres.ts.
import { createServer, type AddressInfo } from 'node:net';

/** Names the port where the server is asked for; not set without vitest. */
export const ONE_POSTGRES = 'POSTGRES_FOR_ALL_TESTS';

/** Where the server is, or why it did not start. */
export type Whereabouts = { readonly port: number; readonly folder: string } | { readonly whyNot: string };

export default async function setup(): Promise<() => void> {
  let server: Promise<Whereabouts> | undefined;
  const door = createServer((socket) => {
    socket.on('error', () => undefined);
    server ??= start();
    void server.then((whereabouts) => socket.end(JSON.stringify(whereabouts)));
  });
  await new Promise<void>((resolve, reject) => {
    door.on('error', reject).listen(0, '127.0.0.1', resolve);
  });
  door.unref();
  process.env[ONE_POSTGRES] = String((door.address() as AddressInfo).port);
  return () => {
    door.close();
  };
}

async function start(): Promise<Whereabouts> {
  try {
    // Loading it looks for PostgreSQL, and reports where there is none.
    const { startSharedServer } = await import('./postgres.ts');
    const { port, folder } = await startSharedServer();
    return { port, folder };
  } catch (error) {
    return { whyNot: error instanceof Error ? error.message : String(error) };
  }
}
