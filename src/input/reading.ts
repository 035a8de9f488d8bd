// How a command has its input read.
import { flagIsOn, hasFlag, type CompilerArguments } from '../compiler/arguments.ts';
import { candidateFlags } from '../compiler/flag-roles.ts';
import { elementTypeConversion } from './conversion.ts';

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
