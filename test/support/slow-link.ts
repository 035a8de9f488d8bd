// A link between two ports of this machine that delays what it carries, and breaks on request.
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

export interface Link {
  readonly port: number;
  /** Ends all connections. New ones work. */
  readonly break: () => void;
  readonly close: () => void;
}

/** @param delayMs of each direction */
export async function slowLink(to: number, delayMs: number): Promise<Link> {
  const open = new Set<Socket>();
  const carry = (from: Socket, into: Socket) => {
    open.add(from);
    from.on('data', (chunk: Buffer) => setTimeout(() => into.writable && into.write(chunk), delayMs));
    // Data under way arrive before the end.
    from.on('end', () => setTimeout(() => into.end(), delayMs));
    from.on('error', () => into.destroy());
    from.on('close', () => {
      open.delete(from);
      setTimeout(() => into.destroy(), 2 * delayMs);
    });
  };
  const server = createServer({ allowHalfOpen: true }, (near) => {
    const far = connect({ port: to, host: '127.0.0.1', allowHalfOpen: true });
    carry(near, far);
    carry(far, near);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const cut = () => {
    for (const socket of open) socket.destroy();
  };
  return {
    port: (server.address() as AddressInfo).port,
    break: cut,
    close: () => {
      cut();
      server.close();
    },
  };
}
