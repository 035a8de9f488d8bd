// Facts about another machine's processor: copies of its system's files, below a folder here, and the name of its architecture.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { startChild } from '../system/child.ts';
import { afterSeconds } from '../system/limits.ts';
import { factsFolder, type Runner } from './runner.ts';
import { shellCommand, unreachable } from './shell.ts';

/** Begins the text of each file; the path follows. */
const FILE = 'iree-tuned-file:';

/** Prints the files that `system/processor.ts` reads, and the architecture. */
const SCRIPT = `for f in /proc/cpuinfo /proc/self/status /sys/devices/system/cpu/online /sys/devices/system/node/online \\
  /sys/devices/system/node/node*/cpulist /sys/devices/system/cpu/cpu*/topology/thread_siblings_list \\
  /sys/devices/system/cpu/cpu0/cache/index*/level /sys/devices/system/cpu/cpu0/cache/index*/size \\
  /sys/devices/system/cpu/cpu0/cache/index*/type /sys/devices/system/cpu/cpu0/cache/index*/shared_cpu_list; do
  [ ! -r "$f" ] || { echo "${FILE}$f"; cat "$f"; }
done
echo "${FILE}/machine"
uname -m`;

const TIMEOUT_SECONDS = 30;

/** Asks the machine, and keeps the answer. @returns why it does not answer; null if it does */
export async function askFacts(runner: Runner): Promise<string | null> {
  const { text, address, folder } = runner;
  const [program, ...argv] = shellCommand(address, folder, SCRIPT);
  const { stdout, stderr } = await startChild(program!, argv, {
    ...{ env: process.env, group: 'own', stdin: 'ignore', output: 'pipe' },
    limits: [afterSeconds(TIMEOUT_SECONDS)],
  }).ended;
  const files = filesIn(stdout.toString());
  if (!files.has('/machine')) {
    if (address.kind !== 'command') return unreachable(text, address, stderr.toString());
    // A program without a shell of its own, such as an emulator, describes nothing.
    files.set('/machine', '');
  }
  const root = factsFolder(runner);
  rmSync(root, { recursive: true, force: true });
  for (const [path, content] of files) {
    mkdirSync(dirname(join(root, path)), { recursive: true, mode: 0o700 });
    writeFileSync(join(root, path), content);
  }
  return null;
}

/** Paths of the answer; others are ignored, because the machine is not trusted with paths here. */
const EXPECTED = /^\/(?:machine|proc\/(?:cpuinfo|self\/status)|sys\/devices\/system\/(?:cpu|node)\/[\w/]+)$/;

function filesIn(answer: string): Map<string, string> {
  const [, ...parts] = answer.split(FILE);
  return new Map(
    parts.flatMap((part) => {
      const end = part.indexOf('\n');
      const path = part.slice(0, end);
      return EXPECTED.test(path) ? [[path, part.slice(end + 1)] as const] : [];
    }),
  );
}
