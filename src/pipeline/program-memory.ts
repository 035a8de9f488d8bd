// What was found out about whole programs: configurations that are better alone can be worse among the others.
import { memoryOf } from './memory.ts';

interface ProgramMemory {
  readonly identity: string;
  /** Keys of the workloads that stay on the default in this program. */
  readonly leftOut: readonly string[];
}

export const programMemory = memoryOf('program', isProgramMemory, { outlivesBuild: true });

function isProgramMemory(value: unknown): value is ProgramMemory {
  const { identity, leftOut } = (value ?? {}) as Partial<Record<keyof ProgramMemory, unknown>>;
  return (
    typeof identity === 'string' && Array.isArray(leftOut) && leftOut.every((key) => typeof key === 'string')
  );
}
