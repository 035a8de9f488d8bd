// The input of one compile, as tuning sees it.
import type { Rewritable } from '../form/rewritable.ts';
import { isTunable, type InputOperation, type TunableOperation } from './operation.ts';
import type { ReadingOptions } from './operations.ts';
import type { InputText } from './text.ts';

export interface Input extends InputText {
  readonly reading: ReadingOptions;
  readonly operations: readonly InputOperation[];
  /** Whether the operations come from a survey of the compiler, not from the text. */
  readonly surveyed: boolean;
  /** Operations that can have other forms. Empty without a survey. */
  readonly rewritables: readonly Rewritable[];
  /** Seconds of waiting for the measuring lock before the survey. */
  readonly waitedSeconds: number;
}

/** The operations with a workload. */
export const tunables = ({ operations }: Pick<Input, 'operations'>): TunableOperation[] =>
  operations.filter(isTunable);
