// What every build with an empty cache asks its compiler first: its flags, its release, what it compiles for on this machine.
// That takes as long as the build itself, so it is asked once for all tests, and lies in the caches of those that are
// about something else.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describeCompiler } from '../../src/compiler/index.ts';
import { compilerIdentity } from '../../src/compiler/identity.ts';
import { loadOptionTable } from '../../src/compiler/options.ts';
import { HOST_FLAGS, probeTargets } from '../../src/site/probe.ts';
import { shortHash } from '../../src/system/hash.ts';
import { hostCpu } from '../../src/system/processor.ts';
import { ONCE } from './ask-once.ts';
import { compiler } from './real-tools.ts';

/** Asks the real compiler, into a folder. */
export async function askOnce(folder: string): Promise<void> {
  const { executable } = compiler;
  mkdirSync(folder);
  await Promise.all([
    loadOptionTable(executable, folder),
    describeCompiler(executable, folder),
    probeTargets(executable, HOST_FLAGS, [], hostCpu(), folder),
  ]);
}

/**
 * Puts the answers into a cache folder.
 * @param executable the real compiler, or a script that answers as it does
 */
export function giveAnswers(cacheDirectory: string, executable = compiler.executable): void {
  const once = process.env[ONCE];
  if (once === undefined) return;
  const folder = join(once, 'answers');
  mkdirSync(cacheDirectory, { recursive: true });
  for (const name of readdirSync(folder)) {
    const answer = JSON.parse(readFileSync(join(folder, name), 'utf8')) as { identity: string };
    const identity = answer.identity.replace(
      compilerIdentity(compiler.executable),
      compilerIdentity(executable),
    );
    const file = name.replace(/-\w+\.json$/, `-${shortHash(identity)}.json`);
    writeFileSync(join(cacheDirectory, file), JSON.stringify({ ...answer, identity }));
  }
}
