// The input of one compile, as far as tuning is concerned.
import type { Rewritable } from '../form/rewritable.ts';
import { isTunable, type InputOperation, type TunableOperation } from './operation.ts';
import type { ReadingOptions } from './operations.ts';
import type { InputText } from './text.ts';

export interface Input extends InputText {
  readonly reading: ReadingOptions;
  readonly operations: readonly InputOperation[];
  /** Whether they are what the compiler was seen to make, not what the text says. */
  readonly surveyed: boolean;
  /** Operations that can be compiled in other forms; none where nobody has looked. */
  readonly rewritables: readonly Rewritable[];
  /** Seconds that were waited for a turn to ask the compiler. */
  readonly waitedSeconds: number;
}

/** The operations that can be tuned, each with its own workload. */
export const tunables = ({ operations }: Pick<Input, 'operations'>): TunableOperation[] =>
  operations.filter(isTunable);
