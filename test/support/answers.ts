// The compiler's answers about its flags, its release, and its targets on this machine. A build with an empty cache asks for these first,
// which takes as long as the build. Tests ask once, and put the answers into the caches of other tests.
import { spawnSync } from 'node:child_process';
import {
  cpSync,
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
import { root } from './folders.ts';
import { compiler } from './installed-tools.ts';
import { store } from './remembering-compiler.ts';

/** The folder of the answers, which `askOnce` makes. */
export const answers = join(store, `answers-${shortHash(compilerIdentity(compiler.executable))}`);

/** The launcher's notes about a Node that runs. Asking Node takes as long as a hit. */
const nodes = join(store, 'nodes');

/** Starts the launcher, which notes that its Node runs. Without a build there is no note, and each launcher asks again. */
export function askNode(): void {
  const folder = mkdtempSync(`${nodes}.`);
  const env = {
    ...process.env,
    XDG_CONFIG_HOME: folder,
    IREE_TUNED_COMPILER: compiler.executable,
    IREE_TUNED_CACHE: folder,
    IREE_TUNED_DB: join(folder, 'tuning.db'),
  };
  spawnSync(join(root, 'bin', 'iree-compile-tuned'), ['no-such-file.mlir'], { env, stdio: 'ignore' });
  const made = join(folder, 'nodes');
  if (existsSync(made)) {
    // The notes of another boot are of no use.
    rmSync(nodes, { recursive: true, force: true });
    renameSync(made, nodes);
  }
  rmSync(folder, { recursive: true });
}

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
  if (existsSync(nodes)) cpSync(nodes, join(cacheDirectory, 'nodes'), { recursive: true });
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
