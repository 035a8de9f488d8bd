// A stream of bytes with a limit, because its sender may not be trusted.
import { UserError } from './user-error.ts';

/**
 * Passes chunks on.
 * @throws UserError
 */
export async function* limited<Chunk extends Uint8Array>(
  chunks: AsyncIterable<Chunk>,
  most: number,
  fault: string,
): AsyncGenerator<Chunk> {
  let size = 0;
  for await (const chunk of chunks) {
    size += chunk.length;
    if (size > most) throw new UserError(fault);
    yield chunk;
  }
}
