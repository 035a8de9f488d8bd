// The drop-in: iree-compile's own command line in, the real compiler's behaviour out. What was compiled before is done
// again here; everything else is loaded only where it is needed.
import { writeSync } from 'node:fs';
import { createRequire, enableCompileCache } from 'node:module';
// Not by way of the folder's entry: what else of it has a memory would be bundled, too.
import { findCompiler, CompilerNotFoundError, type FoundCompiler } from '../compiler/find.ts';
import { NODE_CODE, pathIn } from '../system/cache.ts';
import { readProcess } from '../system/undecoded.ts';
import { become } from '../system/become.ts';
import type * as Run from '../system/run.ts';
import { fetchOutput } from '../wrapper/outputs.ts';
import { recallRun } from '../wrapper/replay.ts';
import { RecursionError } from '../system/recursion.ts';
import { logBuild } from '../report/build-log.ts';
import { timedNow, writeExplanation } from '../report/explain-file.ts';
import { noteCounts } from '../report/counting.ts';
import { messageOf, tell } from '../system/tell.ts';
import { readSettings, splitFlags } from '../settings/index.ts';
import type * as CompileTuned from '../wrapper/compile-tuned.ts';
import { packageRoot as root } from '../system/package-root.ts';

/**
 * Becomes the compiler, or ends as it does. Rejects when it cannot be told what is to be run how, or when that cannot be
 * started.
 */
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
      noteCounts(cacheDirectory, known.counts);
      logBuild(cacheDirectory, known.input, true, known.counts);
      if (known.explanation !== undefined) writeExplanation(timedNow(known.explanation), settings);
      if (isFetched) process.exit(0);
      return await replaceProcess(executable, known.argv, env);
    }
    // Its code is kept as the engine has compiled it.
    enableCompileCache(pathIn(cacheDirectory, NODE_CODE));
    const { compile } = load('compile-tuned') as typeof CompileTuned;
    return await compile(argv, compiler, problems, surroundings);
  } catch (error) {
    // Half of the installation is missing, say.
    tell(`${messageOf(error)}; this build goes on without tuning`, settings.log);
    return replaceProcess(executable, argv, env);
  }
}

/** Becomes the compiler, or ends as it does where that is impossible. */
function replaceProcess(...command: Parameters<typeof become>): Promise<never> {
  become(...command);
  const run = load('run') as typeof Run;
  return run.replaceProcess(...command);
}

/**
 * What was built beside this file. Not by import(): the loader of modules would be started for this alone, for a tenth
 * of all the time there is.
 */
const load = (name: string): unknown => createRequire(import.meta.url)(`./${name}.cjs`);

/** Without a compiler there is nothing to fall back to. */
function findOrEnd(...where: Parameters<typeof findCompiler>): FoundCompiler {
  try {
    return findCompiler(...where);
  } catch (error) {
    if (!(error instanceof CompilerNotFoundError || error instanceof RecursionError)) throw error;
    writeSync(2, `${error.message.replace(/^(?!iree-compile-tuned: )/, 'iree-compile-tuned: ')}\n`);
    process.exit(1);
  }
}
