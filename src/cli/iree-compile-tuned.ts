// The drop-in: it takes the command line of iree-compile, and behaves as the real compiler. A repeated compile needs only this
// file; other code is loaded on demand.
import { writeSync } from 'node:fs';
import { createRequire, enableCompileCache } from 'node:module';
import { refreshIfDue } from '../base/start.ts';
// Import single files: an index would add other modules to this bundle.
import { findCompiler, CompilerNotFoundError, type FoundCompiler } from '../compiler/find.ts';
import { NODE_CODE, pathIn } from '../system/cache.ts';
import { makeFolder } from '../system/folder.ts';
import { readProcess } from '../system/undecoded.ts';
import { become } from '../system/become.ts';
import { resultOr } from '../system/result-or.ts';
import type * as Run from '../system/run.ts';
import { fetchOutput } from '../wrapper/outputs.ts';
import { recallRun } from '../wrapper/replay.ts';
import { RecursionError } from '../system/recursion.ts';
import { logBuild } from '../report/build-log.ts';
import { timedNow, writeExplanation } from '../report/explain-file.ts';
import { messageOf, tell } from '../system/tell.ts';
import { readSettings, splitFlags } from '../settings/index.ts';
import type * as CompileTuned from '../wrapper/compile-tuned.ts';
import { packageRoot as root } from '../system/package-root.ts';

/** Becomes the compiler, or ends with its exit code. Rejects if the command is unknown or does not start. */
export async function main(): Promise<never> {
  const { argv: wholeArgv, env } = readProcess();
  const { given, rest: argv } = splitFlags(wholeArgv);
  const { settings, problems, refused } = readSettings(env, given);
  const cacheDirectory = settings.cache;
  const compiler = findOrEnd(env, { compiler: settings.compiler, root, cacheDirectory });
  const { executable } = compiler;
  if (settings.disabled) return replaceProcess(executable, argv, env);
  for (const message of refused) tell(message, settings.log);

  try {
    const surroundings = { env, settings, root, cacheDirectory };
    const known = problems.length > 0 ? null : await recallRun(argv, executable, surroundings);
    const output = settings.outputs ? known?.output : undefined;
    const isFetched = output !== undefined && fetchOutput(cacheDirectory, output.identity, output.path, env);
    if (known !== null && (isFetched || known.output?.isAll !== true)) {
      logBuild(cacheDirectory, known.input, true, known.counts);
      if (known.explanation !== undefined) writeExplanation(timedNow(known.explanation), settings);
      refreshIfDue(surroundings);
      if (isFetched) process.exit(0);
      return await replaceProcess(executable, known.argv, env);
    }
    // Node caches the compiled code, but never returns if it cannot create this folder.
    const code = pathIn(cacheDirectory, NODE_CODE);
    if (resultOr(() => (makeFolder(code, 0o700), true), false)) enableCompileCache(code);
    const { compile } = load('compile-tuned') as typeof CompileTuned;
    return await compile(argv, compiler, problems, surroundings);
  } catch (error) {
    // For example, a part of the installation is missing.
    tell(`${messageOf(error)}; this build goes on without tuning`, settings.log);
    return replaceProcess(executable, argv, env);
  }
}

/** Becomes the compiler; without execve, ends with its exit code. */
function replaceProcess(...command: Parameters<typeof become>): Promise<never> {
  become(...command);
  const run = load('run') as typeof Run;
  return run.replaceProcess(...command);
}

/** Loads another bundle of this folder. Without import(), whose loader takes a tenth of the time of a hit. */
const load = (name: string): unknown => createRequire(import.meta.url)(`./${name}.cjs`);

/** Ends the process without a compiler, with the exit codes of the launcher: no fallback is left. */
function findOrEnd(...where: Parameters<typeof findCompiler>): FoundCompiler {
  try {
    return findCompiler(...where);
  } catch (error) {
    if (!(error instanceof CompilerNotFoundError || error instanceof RecursionError)) throw error;
    writeSync(2, `${error.message.replace(/^(?!iree-compile-tuned: )/, 'iree-compile-tuned: ')}\n`);
    process.exit(error instanceof RecursionError ? 1 : 127);
  }
}
