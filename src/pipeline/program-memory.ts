// What was found out about whole programs: configurations that are better alone can be worse among the others.
import { join } from 'node:path';
import { readCached, shortHash, writeCached } from '../compiler/cache.ts';

interface ProgramMemory {
  readonly identity: string;
  /** Keys of workloads whose configurations are left out. */
  readonly leftOut: readonly string[];
}

const fileName = (identity: string) => `program-${shortHash(identity)}.json`;

/** Keys of the workloads that stay on the default in this program; none when nothing is known. */
export function recallLeftOut(cacheDirectory: string, identity: string): readonly string[] {
  const memory = readCached(join(cacheDirectory, 'programs'), fileName(identity), isProgramMemory);
  return memory?.identity === identity ? memory.leftOut : [];
}

export function rememberLeftOut(cacheDirectory: string, identity: string, leftOut: readonly string[]): void {
  writeCached(join(cacheDirectory, 'programs'), fileName(identity), { identity, leftOut });
}

function isProgramMemory(value: unknown): value is ProgramMemory {
  const { identity, leftOut } = (value ?? {}) as Partial<Record<keyof ProgramMemory, unknown>>;
  return (
    typeof identity === 'string' && Array.isArray(leftOut) && leftOut.every((key) => typeof key === 'string')
  );
}
