// The real iree-compile: where it is, which one it is, how its command line reads, and how it is run.
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
export { readCached, writeCached } from './cache.ts';
export { describeCompiler, type CompilerDescription } from './describe.ts';
export {
  CompilerNotFoundError,
  findCompiler,
  findRuntimeTool,
  type FindOptions,
  type FoundCompiler,
} from './find.ts';
export { shortHash } from './hash.ts';
export { loadOptionTable, type FlagKind, type OptionTable } from './options.ts';
export { RecursionError } from './recursion.ts';
export { readResponseFile } from './response-file.ts';
export { expandResponseFiles, quoteArgument, type ExpandedArguments } from './response.ts';
export {
  askCompiler,
  exitLike,
  replaceProcess,
  runCompiler,
  type RunOptions,
  type RunResult,
} from './run.ts';
export { makeScratchFolder, removeAbandoned, temporaryName } from './scratch.ts';
export { STALL_SECONDS } from './stall.ts';
export { isText, readProcess } from './undecoded.ts';
