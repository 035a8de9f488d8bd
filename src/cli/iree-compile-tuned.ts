// The drop-in: iree-compile's own command line in, the real compiler's behaviour out. What was compiled before is done
// again here; everything else is loaded only where it is needed.
import { writeSync } from 'node:fs';
import { createRequire, enableCompileCache } from 'node:module';
import { join } from 'node:path';
import { findCompiler, readProcess, replaceProcess } from '../compiler/index.ts';
import { recallRun } from '../pipeline/replay.ts';
import { noteCounts } from '../report/counting.ts';
import { messageOf, tell } from '../report/tell.ts';
import { readSettings, splitFlags } from '../settings/index.ts';
import type * as CompileTuned from './compile-tuned.ts';
import { packageRoot as root } from './package-root.ts';

async function main(): Promise<never> {
  const { argv: wholeArgv, env } = readProcess();
  const { given, rest: argv } = splitFlags(wholeArgv);
  const { settings, problems, refused } = readSettings(env, given);
  const cacheDirectory = settings.cache;
  const compiler = findCompiler(env, { compiler: settings.compiler, root, cacheDirectory });
  const { executable } = compiler;
  if (settings.disabled) return replaceProcess(executable, argv, env);
  for (const message of refused) tell(message, settings.log);

  const surroundings = { env, settings, root, cacheDirectory };
  const known = problems.length > 0 ? null : await recallRun(argv, executable, surroundings);
  if (known !== null) {
    noteCounts(cacheDirectory, known.counts);
    return replaceProcess(executable, known.argv, env);
  }
  // Its code is kept as the engine has compiled it.
  enableCompileCache(join(cacheDirectory, 'node'));
  // Not by import(): the loader of modules would be started for this alone, for a tenth of all the time there is.
  const { compile } = createRequire(import.meta.url)('#compile-tuned') as typeof CompileTuned;
  return compile(argv, compiler, problems, surroundings);
}

main().catch((error: unknown) => {
  // No compiler, or no way to run it: there is nothing to fall back to.
  writeSync(2, `${messageOf(error).replace(/^(?!iree-compile-tuned: )/, 'iree-compile-tuned: ')}\n`);
  process.exit(1);
});
