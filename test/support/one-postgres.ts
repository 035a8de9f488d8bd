// One PostgreSQL server for all tests of a run. The run's main process starts the server for the first test that needs it, and the server
// ends with the run: see postgres.ts.
import { createServer, type AddressInfo } from 'node:net';

/** Environment variable with the port that gives the server's address; not set without vitest. */
export const ONE_POSTGRES = 'POSTGRES_FOR_ALL_TESTS';

/** The server's address, or why it did not start. */
export type ServerAddress = { readonly port: number; readonly folder: string } | { readonly whyNot: string };

export default async function setup(): Promise<() => void> {
  let server: Promise<ServerAddress> | undefined;
  const listener = createServer((socket) => {
    socket.on('error', () => undefined);
    server ??= start();
    void server.then((address) => socket.end(JSON.stringify(address)));
  });
  await new Promise<void>((resolve, reject) => {
    listener.on('error', reject).listen(0, '127.0.0.1', resolve);
  });
  listener.unref();
  process.env[ONE_POSTGRES] = String((listener.address() as AddressInfo).port);
  return () => {
    listener.close();
  };
}

async function start(): Promise<ServerAddress> {
  try {
    // The module searches for PostgreSQL when it loads, so load it only if a test needs the server.
    const { startSharedServer } = await import('./postgres.ts');
    const { port, folder } = await startSharedServer();
    return { port, folder };
  } catch (error) {
    return { whyNot: error instanceof Error ? error.message : String(error) };
  }
}
