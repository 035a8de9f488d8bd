// The real iree-compile: where it is, which one it is, how its command line reads, and how it is asked.
export {
  allValues,
  flagIsOn,
  hasFlag,
  lastValue,
  readArguments,
  type CompilerArguments,
  type CompilerInput,
  type CompilerOutput,
  type Flag,
} from './arguments.ts';
export { readCommand, withTrailingFlags, type Command } from './command.ts';
export { describeCompiler, type CompilerDescription } from './describe.ts';
export {
  CompilerNotFoundError,
  findCompiler,
  findMeasuringTools,
  findRuntimeTool,
  type FindOptions,
  type FoundCompiler,
  type MeasuringTools,
} from './find.ts';
export { loadOptionTable, type FlagKind, type OptionTable } from './options.ts';
export { isBefore, type Release } from './release.ts';
export { readResponseFile } from './response-file.ts';
export { expandResponseFiles, quoteArgument, type ExpandedArguments } from './response.ts';
export { askCompiler } from './ask.ts';
