// The compiler's answers about its flags, its release, and its targets on this machine. A build with an empty cache asks for these first,
// which takes as long as the build. Tests ask once, and put the answers into the caches of other tests.
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describeCompiler } from '../../src/compiler/describe.ts';
import { compilerIdentity } from '../../src/compiler/identity.ts';
import { loadOptionTable } from '../../src/compiler/options.ts';
import { HOST_FLAGS, probeTargets } from '../../src/site/probe.ts';
import { shortHash } from '../../src/system/hash.ts';
import { hostCpu } from '../../src/system/processor.ts';
import { compiler } from './installed-tools.ts';
import { store } from './remembering-compiler.ts';

/** The folder of the answers, which `askOnce` makes. */
export const answers = join(store, `answers-${shortHash(compilerIdentity(compiler.executable))}`);

/** Asks the real compiler, unless an earlier run did. */
export async function askOnce(): Promise<void> {
  if (existsSync(answers)) return;
  const { executable } = compiler;
  const folder = mkdtempSync(`${answers}.`);
  await Promise.all([
    loadOptionTable(executable, folder),
    describeCompiler(executable, folder),
    probeTargets(executable, HOST_FLAGS, [], hostCpu(), folder),
  ]);
  try {
    renameSync(folder, answers);
  } catch (error) {
    // Another run was first.
    if (!existsSync(answers)) throw error;
    rmSync(folder, { recursive: true });
  }
}

/**
 * Puts the answers into a cache folder.
 * @param executable the real compiler, or a script with the same answers
 */
export function giveAnswers(cacheDirectory: string, executable = compiler.executable): void {
  if (!existsSync(answers)) return;
  mkdirSync(cacheDirectory, { recursive: true });
  for (const name of readdirSync(answers)) {
    const answer = JSON.parse(readFileSync(join(answers, name), 'utf8')) as { identity: string };
    const identity = answer.identity.replace(
      compilerIdentity(compiler.executable),
      compilerIdentity(executable),
    );
    const file = name.replace(/-\w+\.json$/, `-${shortHash(identity)}.json`);
    writeFileSync(join(cacheDirectory, file), JSON.stringify({ ...answer, identity }));
  }
}
