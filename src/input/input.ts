// The input of one compile, as tuning sees it.
import type { Rewritable } from '../form/rewritable.ts';
import { isTunable, type InputOperation, type TunableOperation } from './operation.ts';
import type { Reading } from './reading.ts';
import type { InputText } from './text.ts';

/** The bytes of an input, and how a command reads them. */
export interface ReadInput extends InputText {
  readonly reading: Reading;
  /** Key of the input with the flags of its command, for surveys. */
  readonly identity: string;
}

export interface InputOperations {
  readonly operations: readonly InputOperation[];
  /** Whether the operations come from a survey of the compiler, not from the text. */
  readonly surveyed: boolean;
  /** Operations that can have other forms. Empty without a survey. */
  readonly rewritables: readonly Rewritable[];
  /** Seconds that the survey waited for the measuring lock. They count towards the budget. */
  readonly waitedSeconds: number;
}

export type Input = ReadInput & InputOperations;

/** The operations with a workload. */
export const tunables = ({ operations }: Pick<Input, 'operations'>): TunableOperation[] =>
  operations.filter(isTunable);
