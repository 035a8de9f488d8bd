// The input of one compile, as tuning sees it, and how its command reads it.
import { flagIsOn, hasFlag, type CompilerArguments } from '../compiler/arguments.ts';
import { candidateFlags } from '../compiler/flag-roles.ts';
import type { Rewritable } from '../form/rewritable.ts';
import { mayPreprocess, type Settings } from '../settings/settings.ts';
import { isTunable, type InputOperation, type TunableOperation } from './operation.ts';
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

/** The parts of a command that decide how its input is read. */
export interface Reading {
  readonly fromStdin: boolean;
  /** Whether the input has several modules. */
  readonly splits: boolean;
  /** Maps an element type of the input to the type that the compiler converts it to. */
  readonly convert: (elementType: string) => string;
  readonly dataTiling: boolean;
  /** Whether the user gives a preprocessing spec, so that marks cannot follow operations through the compiler. */
  readonly ownPreprocessing: boolean;
  readonly ownPipeline: boolean;
}

export const readingOf = (args: CompilerArguments): Reading => ({
  fromStdin: args.input?.kind === 'stdin',
  splits: flagIsOn(args, 'split-input-file'),
  convert: elementTypeConversion(args),
  dataTiling: candidateFlags(args.flags).some((flag) =>
    /^--iree-(?:opt|dispatch-creation|global-opt)-.*data-tiling(?!=(?:false|0)$)/.test(flag),
  ),
  ownPreprocessing: hasFlag(args, 'iree-preprocessing-transform-spec-filename'),
  ownPipeline: hasFlag(args, 'iree-preprocessing-pass-pipeline'),
});

/** Whether a program can be compiled in other forms. A rewriting pass needs the place of the user's own pipeline. */
export const mayHaveForms = (
  { ownPipeline, dataTiling }: Reading,
  { inject }: Pick<Settings, 'inject'>,
): boolean => !ownPipeline && !dataTiling && mayPreprocess(inject);

/** Conversions in the compiler's order. Only the first is on by default. */
const CONVERSIONS = [
  { flag: 'iree-input-demote-f64-to-f32', from: 'f64', to: 'f32', byDefault: true },
  { flag: 'iree-input-demote-i64-to-i32', from: 'i64', to: 'i32', byDefault: false },
  { flag: 'iree-input-demote-f32-to-f16', from: 'f32', to: 'f16', byDefault: false },
  { flag: 'iree-input-promote-f16-to-f32', from: 'f16', to: 'f32', byDefault: false },
  { flag: 'iree-input-promote-bf16-to-f32', from: 'bf16', to: 'f32', byDefault: false },
] as const;

/**
 * Maps an element type of the input to the type that a compile with these arguments converts it to. A workload has the converted types,
 * because code is generated for these.
 */
export function elementTypeConversion(args: CompilerArguments): (elementType: string) => string {
  const active = CONVERSIONS.filter(({ flag, byDefault }) => flagIsOn(args, flag, byDefault));
  return (elementType) => active.reduce((type, { from, to }) => (type === from ? to : type), elementType);
}
