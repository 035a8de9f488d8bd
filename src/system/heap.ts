// Room in V8's heap. A process without room aborts, and nothing can catch that.
import { UserError } from './user-error.ts';

/** Heap bytes of the parser for each byte of a text, at most. */
const PER_BYTE = 20;

/** Heap bytes of a build for each operation of its program: twice as many as measured. */
const PER_OPERATION = 20_000;

/** Every heap has room for so many bytes. */
const LITTLE = 2 ** 24;

/** Heap bytes that hold this program itself. */
const PROGRAM = 2 ** 24;

/** Heap bytes for young objects, which `--max-old-space-size` does not count (Node 24). */
const YOUNG = 192 * 2 ** 20;

/** Whether the heap has room for so many bytes. Asks only for large programs, because a hit need not load the module. */
function hasRoom(bytes: number): boolean {
  if (bytes <= LITTLE) return true;
  const { heap_size_limit } = process.getBuiltinModule('node:v8').getHeapStatistics();
  return bytes <= heap_size_limit - YOUNG - PROGRAM;
}

export const isParsable = (bytes: number): boolean => hasRoom(PER_BYTE * bytes);

/** @throws UserError if the heap has no room for a program with so many operations */
export function requireRoom(operations: number): void {
  const bytes = PER_OPERATION * operations;
  if (hasRoom(bytes)) return;
  const needed = Math.ceil((bytes + PROGRAM) / 2 ** 20);
  throw new UserError(
    `the program has ${operations} operations, too many for Node's memory: set NODE_OPTIONS=--max-old-space-size=${needed} to tune it`,
  );
}
